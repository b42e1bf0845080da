/**
 * A client by the makers of the protocol. It takes a file with the command line, its environment and steps, and prints what
 * each step gave.
 */
export const client = `
import asyncio, json, subprocess, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    command, args, env, steps = json.load(open(sys.argv[1]))
    async with stdio_client(StdioServerParameters(command=command, args=args, env=env)) as (read, write):
        async with ClientSession(read, write) as session:
            began = await session.initialize()
            print(json.dumps({"instructions": began.instructions, "protocol": began.protocol_version}))
            for step in steps:
                if "run" in step:
                    subprocess.run(step["run"], env=env, check=True, capture_output=True)
                    gave = None
                elif "resource" in step:
                    gave = (await session.read_resource(step["resource"])).contents[0].text
                elif "list" in step:
                    gave = [tool.model_dump(mode="json") for tool in (await session.list_tools()).tools]
                    gave += [resource.uri for resource in (await session.list_resources()).resources]
                elif "together" in step:
                    calls = [session.call_tool(one["tool"], one.get("with", {})) for one in step["together"]]
                    gave = [{"isError": one.is_error, "text": one.content[0].text} for one in await asyncio.gather(*calls)]
                else:
                    try:
                        one = await session.call_tool(step["tool"], step.get("with", {}))
                        # The client checks the content against the schema of the tool.
                        gave = {"isError": one.is_error, "text": one.content[0].text, "data": one.structured_content}
                    except Exception as error:
                        gave = {"isError": True, "text": str(error)}
                print(json.dumps(gave))

asyncio.run(main())
`
