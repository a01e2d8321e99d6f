// Browsers start no worker for a page from disk, and the search of the site is one: a hidden frame takes its place.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html>";
      frame.addEventListener("load", () => {
        const inside = frame.contentWindow, script = inside.document.createElement("script");
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        script.addEventListener("load", () => {
          this.inside = inside;
          for (const data of this.waiting.splice(0)) this.postMessage(data);
        });
        script.src = new URL(url, location.href).href;
        inside.document.head.append(script);
      }, { once: true });
      document.body.append(frame);
    }
    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
  };
}
