// Where the hub listens if neither hub.json nor an option says so.

export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 7430;
