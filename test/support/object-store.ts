/** An object store with the interface of S3, in a process of its own. */
import { spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { freePort } from "../../src/features/fleet/commands/free-port.ts"
import { python, runPython } from "./python.ts"

/** Whether it can be started; a test then skips, and why is printed. */
export const hasObjectStore = python !== undefined

export interface ObjectStore {
  readonly url: string
  readonly stop: () => void
}

/** `environment`: variables of the server. */
export const startObjectStore = async (
  bucket: string,
  environment: Readonly<Record<string, string>> = {}
): Promise<ObjectStore> => {
  const port = await freePort("127.0.0.1")
  const server = spawn(join(dirname(python!), "moto_server"), ["-H", "127.0.0.1", "-p", String(port)], {
    stdio: "ignore",
    env: { ...process.env, ...environment }
  })
  process.once("exit", () => server.kill("SIGKILL"))
  const url = `http://127.0.0.1:${port}`
  const until = Date.now() + 60_000
  for (;;) {
    const created = await fetch(`${url}/${bucket}`, { method: "PUT" }).catch(() => undefined)
    if (created?.ok) return { url, stop: () => void server.kill("SIGKILL") }
    if (Date.now() > until || server.exitCode !== null) throw new Error("the object store does not start")
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** An object store that checks signatures, and the only key that it knows. */
export const startStrictStore = async (bucket: string) => {
  // The bucket, the user, its policy and its key are made by nobody.
  const store = await startObjectStore(bucket, { INITIAL_NO_AUTH_ACTION_COUNT: "4" })
  const [key, secret] = JSON.parse(runPython(python!, makeUser, store.url)) as [string, string]
  return { ...store, key, secret }
}

const makeUser = `
import boto3, json, sys
iam = boto3.client("iam", endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="y")
iam.create_user(UserName="writer")
everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
iam.put_user_policy(UserName="writer", PolicyName="everything", PolicyDocument=json.dumps(everything))
made = iam.create_access_key(UserName="writer")["AccessKey"]
print(json.dumps([made["AccessKeyId"], made["SecretAccessKey"]]))
`
