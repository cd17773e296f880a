// The page's one dialog: modal, gives the focus back, and goes with Esc.

import { $, el } from "./dom.js";
import { t } from "./i18n.js";

const dialog = $("dialog");
let closed = null;
let opener = null;

/** The browser gives the focus back; where the control is gone the view gets it. */
function giveBack() {
  if (document.activeElement !== document.body) return;
  const place = opener?.isConnected && opener.checkVisibility() ? opener : $("main");
  place.focus({ preventScroll: true });
}

dialog.addEventListener("close", async () => {
  dialog.replaceChildren();
  await closed?.();
  closed = null;
  giveBack();
});

export const isOpen = () => dialog.open;
export const close = () => dialog.close();

/**
 * Open it with `body`. The last of `foot` is where one goes on; the focus begins on what carries
 * `data-first`: the harmless button.
 */
export function open({ title, hidden = false, lead = null, body = [], foot = null, about = false, after = null }) {
  closed = after;
  const done = el("button", { class: "btn pri", type: "button", onclick: close, "data-first": "" }, t("close"));
  dialog.replaceChildren(
    el("div", { class: "hd" }, el("h2", { id: "dialog-title", class: hidden ? "vh" : null }, title), lead ? el("p", {}, lead) : null),
    el("div", { class: about ? "bd about" : "bd", tabindex: "0" }, body), // scrolled by keys as well
    el("div", { class: "ft" }, foot ?? done),
  );
  if (!dialog.open) opener = document.activeElement;
  if (!dialog.open) dialog.showModal(); // else what it says is replaced: closing is told late
  dialog.querySelector("[data-first]")?.focus();
}
