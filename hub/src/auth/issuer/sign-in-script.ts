// The one script of the authorization server's pages: it signs in with the session of the web interface, if this browser has one,
// and goes on when someone has approved the code. Without scripts, the page has a button.

/** The half of a session that pages keep; ui/src/lib/hub/api.ts stores it under this name. */
const KEY = "plugboard.key";
const CHECK_MS = 1500;

export const SIGN_IN_SCRIPT = `"use strict";
(() => {
  const { code } = document.currentScript.dataset;
  const status = document.getElementById("signing-in");
  const approve = async () => {
    const key = localStorage.getItem(${JSON.stringify(KEY)});
    if (key === null) return;
    const response = await fetch("/api/v1/oauth/requests/" + code + "/approve", {
      method: "POST",
      headers: { "x-plugboard-key": key },
    });
    if (response.ok) status.textContent = "Signed in with the session of this browser.";
  };
  const check = async () => {
    const response = await fetch(location.pathname + "/state");
    if (!response.ok || (await response.json()).signed_in) return location.reload();
    setTimeout(run, ${CHECK_MS});
  };
  let tried = null;
  const run = () => {
    const key = localStorage.getItem(${JSON.stringify(KEY)});
    const first = key !== tried;
    tried = key;
    (first ? approve() : Promise.resolve()).catch(() => {}).then(check).catch(() => setTimeout(run, ${CHECK_MS}));
  };
  run();
})();
`;
