// Signs in the browser that shows a code, so that its person can let an OAuth client use the hub.

import type { AccessRequestView } from "../../api/schemas/oauth.ts";
import type { Access } from "../hub-access/hub-access.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { askYes, canAsk } from "../terminal/ask.ts";

export async function signInBrowser(io: Io, { api, out }: Access, code: string, options: GlobalOptions): Promise<void> {
  const asked = await api.grants.request(code);
  if (!out.json) out.note(describe(asked));
  const question = "Do you see this code in your own browser, for a program that you are connecting right now?";
  if (canAsk(io, options) && !(await askYes(io, question, { enter: false }))) return out.note("Nothing was approved");
  const approved = await api.grants.approve(code);
  out.changed("Signed in: go on in the browser", approved);
}

function describe({
  client_name: name,
  redirect_host: host,
  is_this_computer: isLocal,
  address,
  group,
}: AccessRequestView) {
  const who = name === null ? "A program that gives no name" : `A program that calls itself "${name}"`;
  const where = isLocal ? `a program on the computer of the browser (${host})` : host;
  const what = group === null ? "groups of this hub" : `the group ${group}`;
  return `${who} wants to use ${what}.\nThe access goes to ${where}. The browser is at ${address}.`;
}
