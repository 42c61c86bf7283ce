// Search in pages that are opened from disk: browsers start no workers there, so the script of the
// worker runs in a hidden frame instead.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.waiting = [];
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.documentElement.append(this.frame);
    this.inside = this.frame.contentWindow;
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = this.inside.document.createElement("script");
    script.src = url;
    script.onload = () => this.begin();
    this.inside.document.head.append(script);
  }

  begin() {
    const waiting = this.waiting;
    this.waiting = null;
    waiting.forEach((data) => this.postMessage(data));
  }

  postMessage(data) {
    if (this.waiting) {
      this.waiting.push(data);
    } else {
      this.inside.dispatchEvent(new MessageEvent("message", { data }));
    }
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") {
  window.Worker = FrameWorker;
}
