// Where the API is. In a file of its own, which the hub loads at its start without the schemas of the routes.

export const BASE_PATH = "/api/v1";
