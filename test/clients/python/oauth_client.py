"""Logs in at an MCP endpoint with the Python SDK: prints the address to open, and reads the address at which the browser arrived."""

import asyncio
import sys
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata


class Memory:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def show(url: str) -> None:
    print(url, flush=True)


async def arrived():
    line = await asyncio.to_thread(sys.stdin.readline)
    query = parse_qs(urlparse(line.strip()).query)
    code, state, iss = (query.get(name, [None])[0] for name in ("code", "state", "iss"))
    return AuthorizationCodeResult(code=code, state=state, iss=iss)


async def main(url: str) -> None:
    auth = OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="Python SDK", redirect_uris=["http://localhost:3030/callback"], token_endpoint_auth_method="none"
        ),
        storage=Memory(),
        redirect_handler=show,
        callback_handler=arrived,
    )
    async with httpx2.AsyncClient(auth=auth, follow_redirects=True) as http:
        async with streamable_http_client(url, http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                tools = await session.list_tools()
                print("tools:", *sorted(tool.name for tool in tools.tools), flush=True)


asyncio.run(main(sys.argv[1]))
