// Routes of the hub's API that no call in the sources of the UI names literally, by their operationId: the file that uses the route all
// the same, or the reason why the UI does not. All other routes are found in the sources by test/ui/routes.test.ts, which fails if a
// route is neither used nor listed here.

interface UsedIn {
  /** In ui/src. */
  readonly file: string;
}

interface NotUsed {
  readonly why: string;
}

export const ROUTES: Readonly<Record<string, UsedIn | NotUsed>> = {
  listServerApprovals: { why: "Each server has its own summary" },
  searchRegistries: { file: "screens/registry/Registry.svelte" },
  getRegistryServer: { file: "screens/registry/RegistryServer.svelte" },
  updateServer: { file: "screens/server/config-draft.svelte.ts" },
  startServer: { file: "state/server-actions.ts" },
  stopServer: { file: "state/server-actions.ts" },
  restartServer: { file: "state/server-actions.ts" },
  enableServer: { file: "state/server-actions.ts" },
  disableServer: { file: "state/server-actions.ts" },
  signOut: { file: "state/session.svelte.ts" },
  signOutAll: { file: "state/session.svelte.ts" },
  getToolIndex: { file: "state/tools.svelte.ts" },
  listGroupTools: { file: "state/tools.svelte.ts" },
  getConfig: { why: "The UI shows servers and groups from their own routes, and the config files as their text" },
  logout: { file: "screens/access/Logins.svelte" },
  refreshLogin: { file: "screens/access/Logins.svelte" },
  createGrant: { why: "Programs are added by a command or script, where their credentials are needed" },
  importLogin: { why: "Continues logins of another program's settings, which only the import command reads" },
  reloadConfig: { why: "The hub sees changes of its files by itself" },
  listPrompts: { why: "The UI lists prompts over MCP" },
  listResourceTemplates: { why: "The UI lists resource templates over MCP" },
  getUser: { why: "The list of users has everything about each" },
  getMe: { why: "The session of the browser says it, too" },
  deleteGroup: { file: "screens/groups/Group.svelte" },
  getGroupTool: { why: "Try shows the definition of the server; a group changes only the name" },
  createUiKey: { why: "Only the commands make sign-in links: a browser that is signed in must not let in others" },
  callGroupTool: { why: "The UI calls tools over MCP, with progress, cancellation and questions" },
  getAccessRequest: { why: "The page of the request shows what is asked for" },
  approveAccessRequest: { why: "The page of the request approves it by itself, in a browser that is signed in" },
  readResource: { why: "The UI reads resources over MCP" },
  getPrompt: { why: "The UI gets prompts over MCP" },
};
