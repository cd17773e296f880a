// What went wrong and what can be done about it, and what the server has to say besides.

import { $, el, prose } from "./dom.js";
import { houseWords, t } from "./i18n.js";
import { message as box, told } from "./parts.js";

const NOTICES = 3;
const OWN_WORDS = ["engine", "offer", "typed"]; // the server's sentence says more than ours

/**
 * One message at a time, in the first view or behind the transcript, and the last notices. What may be
 * done: `again`, `type`, `look` for the server, have the call `here`, `leave` it, hear its `sound`.
 */
export class Messages {
  constructor(transcript, { again, type, look, here, leave, sound }) {
    const AGAIN = ["a_again", again];
    const TYPE = ["a_type", type];
    this.transcript = transcript;
    this.shown = null; // { kind, detail }
    this.forms = {
      refused: { actions: [AGAIN, TYPE] },
      none: { actions: [AGAIN, TYPE] },
      busy: { actions: [AGAIN, TYPE] },
      insecure: { actions: [TYPE] },
      old: { actions: [TYPE] },
      offline: { actions: [AGAIN, TYPE] },
      mic: { actions: [AGAIN, TYPE] },
      mic_lost: { actions: [AGAIN] },
      server: { actions: [["a_again", look]] },
      elsewhere: { kind: "handled", actions: [["a_here", here]] },
      moved: { kind: "handled", actions: [["a_here", here]] },
      engine: { actions: [AGAIN] },
      lost: { actions: [AGAIN] },
      goes_on: { kind: "handled", actions: [["a_leave", leave]] },
      offer: { actions: [AGAIN] },
      silence: { kind: "handled" },
      ended: { actions: [AGAIN] },
      sound: { kind: "handled", actions: [["a_sound", sound]] },
      typed: { actions: [] },
    };
  }

  show(kind, detail = "") {
    this.shown = { kind, detail };
    this.draw();
  }

  hide() {
    this.shown = null;
    this.draw();
  }

  draw() {
    for (const place of [$("messages"), $("after")]) place.querySelector(".main")?.remove();
    if (!this.shown) return;
    const { kind, detail } = this.shown;
    const own = OWN_WORDS.includes(kind) && detail;
    const words = own ? houseWords(detail) : { text: t(`e_${kind}_p`, { detail }), lang: null };
    const shown = box({ title: t(`e_${kind}`), text: el("span", { lang: words.lang }, prose(words.text)), ...this.forms[kind] });
    shown.classList.add("main");
    (this.transcript.empty ? $("messages") : $("after")).append(shown);
    this.transcript.follow();
  }

  /** Sentences of the house. */
  notice({ kind, text }, place) {
    return this.add(told(text, { kind }), place);
  }

  /** Words of the page. */
  tell(words) {
    return this.add(box({ ...words, kind: "handled" }), $("after"));
  }

  add(notice, place) {
    notice.classList.add("notice");
    const shown = place.querySelectorAll(".notice");
    if (shown.length >= NOTICES) shown[0].remove();
    place.append(notice);
    this.transcript.follow();
    return notice;
  }

  clear() {
    this.hide();
    document.querySelectorAll("#after .notice").forEach((notice) => notice.remove());
  }
}
