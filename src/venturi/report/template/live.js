// Of the preview alone: the page asks its own server whether it changed, and loads itself again.
"use strict";
(() => {
  const PAUSE_MS = 2000;
  const own = document.currentScript.src.split("?")[1];
  const said = document.createElement("p");
  said.className = "remark is-fair";
  said.setAttribute("role", "status");
  const say = (text) => {
    said.textContent = text;
    if (!text) said.remove();
    else if (!said.isConnected) document.getElementById("main").prepend(said);
  };

  // What is chosen on a page is in its address, and stays when it is loaded again.
  async function look() {
    try {
      const answer = await fetch(`/-/version${location.pathname}`, { cache: "no-store" });
      const text = await answer.text();
      if (answer.status === 503) say(`The preview cannot read the sources: ${text}`);
      else if (answer.status === 404) say("This page is gone: what it showed is not in the sources any more.");
      else if (text === own) say("");
      else location.reload();
    } catch {
      say("The preview has ended: this page stays as it is.");
    }
  }

  setInterval(() => { if (!document.hidden) look(); }, PAUSE_MS);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
})();
