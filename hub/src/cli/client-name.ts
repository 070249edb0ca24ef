// What the command line calls itself in the call log.

export const CLIENT = "cli";
