// A page that was opened from a folder may not start a worker. The search's own then lives in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      const load = source => new Promise((done, failed) => {
        const script = this.inner.document.createElement("script");
        script.onload = done;
        script.onerror = () => failed(new Error(`${source} cannot be loaded`));
        script.src = source;
        this.inner.document.body.append(script);
      });
      this.inner.importScripts = (...sources) => Promise.all(sources.map(load));
      this.inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = load(url);
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
    }
  };
}
