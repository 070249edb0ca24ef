"""Tries the hub with a client library of Python. Usage: trial.py LIBRARY URL, prints one JSON object.

`resume` is another trial: a call, and once a line has come on stdin another one in the same session.
"""

import asyncio
import json
import sys

from mcp import Client, types

AT_ONCE = 40


async def answer(_context, params):
    return types.ElicitResult(action="accept", content={"name": f"Python, asked: {params.message}"})


def sdk(mode):
    async def run(url):
        async with Client(url, mode=mode, elicitation_callback=answer) as client:

            async def text(name, arguments=None):
                return (await client.call_tool(name, arguments)).content[0].text

            tools = (await client.list_tools()).tools
            image = (await client.call_tool("picture")).content[0]
            failed = await client.call_tool("fail")
            return {
                "revision": client.protocol_version,
                "tools": sorted(tool.name for tool in tools),
                "text": await text("echo", {"message": "hello"}),
                "image": [image.mime_type, image.data],
                "structured": (await client.call_tool("sum", {"a": 1, "b": 2})).structured_content,
                "error": [failed.is_error, failed.content[0].text],
                "at_once": await asyncio.gather(*(text("echo", {"message": str(n)}) for n in range(AT_ONCE))),
                "asked": await text("ask"),
            }

    return run


async def pydantic_ai(url):
    """The toolset that an agent gets; no model is asked."""
    from pydantic_ai.exceptions import ModelRetry
    from pydantic_ai.mcp import MCPToolset

    async with MCPToolset(url, elicitation_handler=answer_agent) as toolset:

        async def call(name, **arguments):
            return await toolset.direct_call_tool(name, arguments)

        tools = await toolset.list_tools()
        image = await call("picture")
        try:
            failed = [False, str(await call("fail"))]
        except ModelRetry as retry:
            failed = [True, retry.message]
        return {
            "tools": sorted(tool.name for tool in tools),
            "text": await call("echo", message="hello"),
            "image": [image.media_type, image.base64],
            "structured": await call("sum", a=1, b=2),
            "error": failed,
            "at_once": await asyncio.gather(*(call("echo", message=str(n)) for n in range(AT_ONCE))),
            "asked": await call("ask"),
        }


async def answer_agent(message, _type, _params, _context):
    return types.ElicitResult(action="accept", content={"name": f"Python, asked: {message}"})


async def resume(url):
    async with Client(url, mode="legacy") as client:
        before = await client.call_tool("trial__echo", {"message": "before"})
        print("called", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        after = await client.call_tool("trial__echo", {"message": "after"})
        return {"before": before.content[0].text, "after": after.content[0].text}


LIBRARIES = {"legacy": sdk("legacy"), "modern": sdk("2026-07-28"), "pydantic-ai": pydantic_ai, "resume": resume}

if __name__ == "__main__":
    library, url = sys.argv[1:]
    print(json.dumps(asyncio.run(LIBRARIES[library](url))))
