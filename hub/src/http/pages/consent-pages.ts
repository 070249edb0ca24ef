// The pages on which a person signs in and lets an OAuth client use the hub. What the client says about itself is shown as text and
// marked as its own words; the host that gets the code cannot be made up, and is shown in large.

import { html, type Html } from "./html.ts";
import type { Page } from "./page.ts";

interface Asked {
  readonly clientName: string;
  readonly redirectHost: string;
  readonly isLoopback: boolean;
  readonly readOnly: boolean;
}

interface SignInPage extends Asked {
  readonly code: string;
  /** Whether people can sign in to the web interface at this address. */
  readonly hasUi: boolean;
  /** The address of the script that notices when the code was approved. */
  readonly script: string;
}

interface ConsentPage extends Asked {
  /** Who has signed in. */
  readonly who: string;
  readonly csrf: string;
  /** The group that is asked for. */
  readonly group: string | undefined;
  /** What may be chosen. */
  readonly groups: readonly string[];
  readonly days: readonly number[];
}

export function signInPage({ code, hasUi, script, ...asked }: SignInPage): Page {
  return {
    title: "Sign in to Plugboard",
    main: html` <h1>Sign in to Plugboard</h1>
      <p>${claim(asked)} wants to use this hub. First the hub has to know who you are.</p>
      <p id="signing-in" role="status"></p>
      <p id="providers" class="buttons" hidden></p>
      <p>To approve it on the computer that runs the hub, run:</p>
      <p class="large"><code>plugboard approve ${code}</code></p>
      ${hasUi ? SIGN_IN : ASK}
      <p class="notice">
        Approve only a code that you see on your own screen, for a program that you are connecting right now.
      </p>
      <form method="get"><button class="plain">Continue</button></form>
      <script src="${script}" data-code="${code}"></script>`,
  };
}

const SIGN_IN = html`<p>
  or <a href="/ui/" target="_blank" rel="noopener">sign in to the web interface</a> in this browser. This page then goes
  on by itself.
</p>`;

const ASK = html`<p>If that is not your computer, ask the person who runs it. This page then goes on by itself.</p>`;

export function consentPage({ who, csrf, group, groups, days, ...asked }: ConsentPage): Page {
  const none = groups.length === 0;
  return {
    title: "Allow access to Plugboard",
    main: html` <h1>Allow access?</h1>
      <p>
        ${claim(asked)} wants to use MCP servers of this hub as <strong>${who}</strong>. If you allow it, your browser
        goes to
      </p>
      <p class="host">${shownHost(asked)}</p>
      ${warning(asked)}
      <form method="post">
        <input type="hidden" name="csrf" value="${csrf}" />
        ${none ? html`<p class="notice failed">There is no group that you may use.</p>` : chooseGroups(group, groups)}
        <p>
          <label
            ><input type="checkbox" name="read_only" ${asked.readOnly ? html` checked disabled` : undefined} /> Only
            tools that change nothing (read-only)</label
          >
        </p>
        <p>
          <label for="days">Access ends after</label>
          <select id="days" name="days">
            ${days.map((each) => html`<option value="${String(each)}">${each === 1 ? "1 day" : `${each} days`}</option>`)}
          </select>
        </p>
        <p class="buttons">
          ${none ? undefined : html`<button name="decision" value="allow">Allow</button>`}
          <button class="plain" name="decision" value="deny" formnovalidate>Deny</button>
        </p>
      </form>
      <p class="faint">
        You can end this access at any time: <code>plugboard grant ls</code>, or Access in the web interface.
      </p>`,
  };
}

/** For errors that must not be sent to the client: it may not be the one it says. */
export function issuerErrorPage(message: string, hint: string): Page {
  return {
    title: "Not possible",
    main: html` <h1>This cannot be done</h1>
      <p class="notice failed">${message}</p>
      <p>${hint}</p>`,
  };
}

function claim({ clientName }: Asked): Html {
  return clientName === ""
    ? html`A program that gives no name`
    : html`A program that calls itself <strong class="claimed">${clientName}</strong>`;
}

function shownHost({ redirectHost, isLoopback }: Asked): Html {
  if (isLoopback) return html`this computer <small>(${redirectHost})</small>`;
  return redirectHost.endsWith(":")
    ? html`an app on this computer <small>(${redirectHost})</small>`
    : html`${redirectHost}`;
}

function warning({ redirectHost, isLoopback }: Asked): Html {
  if (isLoopback || redirectHost.endsWith(":")) {
    return html`<p class="notice">
      Any program on this computer can ask for access in this way, under any name. Allow it only if you have just
      connected this program yourself.
    </p>`;
  }
  return html`<p class="notice">
    Allow it only if you know <strong>${redirectHost}</strong>: it gets the access, whatever the program calls itself.
  </p>`;
}

function chooseGroups(asked: string | undefined, groups: readonly string[]): Html {
  const box = (name: string) =>
    html`<label
      ><input
        type="checkbox"
        name="group"
        value="${name}"
        ${asked === undefined ? undefined : html` checked disabled`}
      />
      ${name}</label
    >`;
  return html` <fieldset>
    <legend>${asked === undefined ? "Groups that it may use" : "The group that it may use"}</legend>
    ${groups.map(box)}
  </fieldset>`;
}
