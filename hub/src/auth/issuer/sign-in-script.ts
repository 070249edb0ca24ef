// The one script of the authorization server's pages: it signs in with the session of the web interface, if this browser has one,
// offers the identity providers by which one begins, and goes on when someone has approved the code. Without scripts, the page has
// a button.

/** The half of a session that pages keep; ui/src/lib/hub/api.ts stores it under this name. */
const KEY = "plugboard.key";
const CHECK_MS = 1500;

export const SIGN_IN_SCRIPT = `"use strict";
(() => {
  const { code } = document.currentScript.dataset;
  const status = document.getElementById("signing-in");
  const providers = document.getElementById("providers");
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
  const signInBy = async (provider) => {
    const response = await fetch("/api/v1/ui/sign-ins", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ provider, return_to: location.pathname }),
    });
    const answer = await response.json();
    if (response.ok) return location.assign(answer.url);
    status.textContent = answer.message;
  };
  const offer = async () => {
    const response = await fetch("/api/v1/ui/providers");
    if (!response.ok) return;
    for (const { name } of await response.json()) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Sign in with " + name;
      button.addEventListener("click", () => {
        button.disabled = true;
        signInBy(name)
          .catch(() => (status.textContent = "The hub does not answer. Try again."))
          .finally(() => (button.disabled = false));
      });
      providers.append(button);
      providers.hidden = false;
    }
  };
  run();
  // Without the web interface there are none.
  offer().catch(() => {});
})();
`;
