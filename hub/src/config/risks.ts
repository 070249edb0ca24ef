// What in an entry would give a server power over the machine. A person who writes the file by hand may want that, and
// is only warned; an edit that comes through the hub may not add it. Acting on the list is left to file.ts.

import type { ServerConfig } from "./types.ts";

export interface Risk {
  readonly field: string;
  readonly reason: string;
}

/** Variables by which any program can be made to run other code. */
const ENV_RISKS =
  /^(LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_.*|NODE_OPTIONS|PYTHONSTARTUP|BASH_ENV|GIT_SSH_COMMAND|NPM_CONFIG_.*)$/;

/** What it looks like as one argument, or as an option and its value. */
const DOCKER_RISKS: readonly (readonly [RegExp, string])[] = [
  [/^--privileged(=true)?$/, "--privileged gives the container the whole machine"],
  [/^--(network|net|pid|ipc|uts|userns)[= ]host$/, "host networking or namespaces open the machine to the container"],
  [/(docker|podman|containerd)\.sock\b/, "the socket of a container engine gives the container the whole machine"],
  [/^(-v|--volume)[= ]?\/+:/, "a mount of / gives the container all files"],
  [/^--mount[= ].*\b(source|src)=\/+(,|$)/, "a mount of / gives the container all files"],
  [/^--cap-add[= ]/, "--cap-add gives the container kernel capabilities"],
  [/^--device[= ]/, "--device gives the container a device of the machine"],
];

/** The risks of a server, each reason once. */
export function findRisks({ env, transport }: ServerConfig): Risk[] {
  const risks = new Map<string, Risk>();
  const add = (field: string, reason: string) => risks.set(reason, { field, reason });
  for (const name of Object.keys(env)) {
    if (ENV_RISKS.test(name)) add(`env.${name}`, `the variable ${name} can make a program run other code`);
  }
  if (transport.type === "stdio" && transport.launcher === "docker") {
    for (const [index, arg] of transport.args.entries()) {
      const forms = [arg, `${arg} ${transport.args[index + 1] ?? ""}`];
      for (const [pattern, reason] of DOCKER_RISKS) {
        if (forms.some((form) => pattern.test(form))) add("args", reason);
      }
    }
  }
  return [...risks.values()];
}
