// What the page asks of its server, and what the server tells by itself.

/** `kind` is a key of the page's messages ("refused", "server" …), `detail` more in words. */
export class Failed extends Error {
  constructor(kind, detail = "", more = {}) {
    super(`${kind} ${detail}`.trim());
    this.kind = kind;
    this.detail = detail;
    this.more = more; // what else the server said
  }
}

const KINDS = {
  "call in progress": "elsewhere",
  "engine failed": "engine",
  changed: "changed",
  gone: "gone",
};

/** The server's answer, or Failed: "server" when it can't be reached, else what it says. */
export async function ask(path, body, options = {}) {
  let response;
  try {
    response = await fetch(path, {
      ...(body === undefined
        ? {}
        : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      ...options,
    });
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new Failed("server");
  }
  if (response.ok) return response;
  const said = await response
    .json()
    .catch(() => ({ error: "failed", message: `${response.status} ${response.statusText}` }));
  throw new Failed(KINDS[said.error] ?? "offer", said.message, said);
}

export const fetched = async (path, body) => (await ask(path, body)).json();

/** What a response tells line by line, while it comes. */
export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) if (part.trim()) yield JSON.parse(part);
  }
  if (rest.trim()) yield JSON.parse(rest);
}

/**
 * Tell `changed` the names of what changed. Nothing is listened to while the page is hidden:
 * a browser opens only a few lines to one server, and each tab would hold one.
 */
export function listen(changed) {
  let source = null;
  const look = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (source === null) {
      source = new EventSource("/api/events");
      source.onmessage = ({ data }) => changed(JSON.parse(data));
    }
  };
  document.addEventListener("visibilitychange", () => {
    look();
    if (!document.hidden) changed(["notebooks", "changes", "reviews", "journal", "events", "settings"]);
  });
  addEventListener("pagehide", () => source?.close());
  look();
}
