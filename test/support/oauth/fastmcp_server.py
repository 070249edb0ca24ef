# A protected MCP server of FastMCP with its own authorization server, which consents by itself.
#
#   python fastmcp_server.py PORT PUBLIC_URL

import sys

from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from fastmcp.server.dependencies import get_access_token
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions

port, public_url = sys.argv[1:]
auth = InMemoryOAuthProvider(
    base_url=public_url,
    required_scopes=["mcp"],
    client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["mcp"]),
    revocation_options=RevocationOptions(enabled=True),
)
mcp = FastMCP("fastmcp", auth=auth)


@mcp.tool
def whoami() -> str:
    token = get_access_token()
    return f"a client with {' '.join(token.scopes)}"


mcp.run(transport="http", host="127.0.0.1", port=int(port), show_banner=False, log_level="warning")
