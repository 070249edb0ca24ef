// The client name of the command line in the call log.

export const CLIENT = "cli";
