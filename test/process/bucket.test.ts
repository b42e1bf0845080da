/** A bucket that is brought up to date each night, as its readers see it. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type Account, discard, openPeople, openSynced } from "../support/account.ts"
import { type Bucket, startBucket } from "../support/bucket.ts"
import { lakeExtensions } from "../support/extensions.ts"
import { hasObjectStore } from "../support/object-store.ts"
import { knowingApart, start } from "../support/process.ts"
import { python, readingUntil } from "../support/python.ts"
import { randomFrom } from "../support/random.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { type Planted, plant } from "../subject/planted.ts"

const seed = Number(process.env["SLUICE_SEED"] ?? 1)
/** More with SLUICE_NIGHTS. */
const nights = Number(process.env["SLUICE_NIGHTS"] ?? 3)
const [key, secret] = ["AKIAEXAMPLEKEYID", "an-object-store-secret-5d1f"]

/** PyArrow reads through the manifest, DuckDB by folders; both have clients of their own. */
const readers = `
import duckdb, hashlib, io, json, pyarrow.fs, pyarrow.parquet, re, sys, threading
from urllib.parse import urlparse
endpoint, place, extensions = sys.argv[1:4]
host = urlparse(endpoint).netloc
s3 = pyarrow.fs.S3FileSystem(access_key="${key}", secret_key="${secret}", endpoint_override=host, scheme="http", region="us-east-1")
def content(name):
    with s3.open_input_stream(f"{place}/{name}") as file: return file.read()
def names():
    return sorted(one.path[len(place) + 1:] for one in s3.get_file_info(pyarrow.fs.FileSelector(place, recursive=True)) if one.is_file)
def duck():
    c = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    c.execute("SET enable_progress_bar = false") # It would be on stdout.
    c.execute(f"LOAD '{extensions}/httpfs.duckdb_extension'")
    c.execute(f"CREATE SECRET (TYPE s3, KEY_ID '${key}', SECRET '${secret}', ENDPOINT '{host}', URL_STYLE 'path', USE_SSL false)")
    return c
def wrong_in(manifest, field):
    wrong = []
    for file in manifest["files"]:
        data = content(file[field])
        if len(data) != file["bytes"] or hashlib.sha256(data).hexdigest() != file["sha256"]: wrong.append(file[field])
        elif file["path"].endswith(".parquet") and pyarrow.parquet.read_metadata(io.BytesIO(data)).num_rows != file["rows"]: wrong.append(file[field])
    return wrong
`
/** Prints what the bucket has, what of it is not as the manifest says, and how the folders of tables differ from crm.duckdb. */
const look = `${readers}
manifest = json.loads(content("manifest.json"))
c = duck()
c.execute(f"ATTACH '{sys.argv[4]}' AS release (READ_ONLY)")
differ = []
for table in sorted(file["table"] for file in manifest["files"] if file["path"].startswith("parquet/")):
    if not c.execute(f"SELECT count(*) FROM duckdb_tables() WHERE database_name = 'release' AND schema_name = 'main' AND table_name = '{table}'").fetchone()[0]: continue
    one, other = f"read_parquet('s3://{place}/parquet/{table}/*.parquet')", f'release.main."{table}"'
    cast = "COLUMNS(*)::VARCHAR"
    n = c.execute(f"SELECT count(*) FROM ((SELECT {cast} FROM {one} EXCEPT ALL SELECT {cast} FROM {other}) UNION ALL (SELECT {cast} FROM {other} EXCEPT ALL SELECT {cast} FROM {one}))").fetchone()[0]
    if n: differ.append(f"{table}: {n}")
print(json.dumps({"manifest": manifest, "names": names(), "wrong": wrong_in(manifest, "object") + wrong_in(manifest, "path"), "differ": differ}))
`
/**
 * Reads until its input ends: what a manifest names, which it read before, and the folder of a table. Prints the number of
 * readings, of manifests, and what was wrong.
 */
const poll = `${readers}
stopped, seen, wrong, readings = False, set(), [], 0
def wait():
    global stopped
    sys.stdin.read(); stopped = True
threading.Thread(target=wait).start()
c = duck()
while not stopped:
    try: manifest = json.loads(content("manifest.json"))
    # PyArrow asks for the size before it reads, and gets as much of a manifest that was replaced meanwhile.
    except json.JSONDecodeError: continue
    seen.add(manifest["run"] + manifest["writtenAt"])
    wrong += wrong_in(manifest, "object")
    try:
        rows, ids = c.execute(f"SELECT count(*), count(DISTINCT id) FROM read_parquet('s3://{place}/parquet/contacts/*.parquet')").fetchone()
        if rows != ids: wrong.append(f"{rows} rows of {ids} contacts")
    except duckdb.Error as error:
        # The file was replaced while it was read.
        if not re.search("ETag|changed", str(error)): raise
    readings += 1
print(json.dumps({"readings": readings, "seen": len(seen), "wrong": wrong}))
`

interface Found {
  readonly manifest: {
    readonly run: string
    readonly files: ReadonlyArray<{ readonly path: string; readonly object: string; readonly sha256: string }>
    readonly earlier: ReadonlyArray<{ readonly object: string; readonly since: string }>
  }
  readonly names: ReadonlyArray<string>
  readonly wrong: ReadonlyArray<string>
  readonly differ: ReadonlyArray<string>
}

describe.skipIf(!hasObjectStore || python === undefined)("a bucket", () => {
  let bucket: Bucket
  const accounts: Array<Account> = []
  beforeAll(async () => {
    bucket = await startBucket("crm")
  })
  afterAll(async () => {
    discard(...accounts)
    await bucket?.stop()
  })

  const opened = (account: Account): Account => {
    accounts.push(account)
    return account
  }
  const settings = (place: string, more = "") => {
    const path = join(newFolder(), "sluice.toml")
    writeFileSync(
      path,
      `[[publish]]\nname = "exports"\nfolder = "s3://${place}"\nprofile = "raw"\ns3_key = "env:KEY"\ns3_secret = "env:SECRET"\ns3_endpoint = "${bucket.endpoint}"\n${more}\n`
    )
    return ["--config", path]
  }
  const only = ["--only", "contacts,opportunities"]
  const few = 'tables = ["contacts", "opportunities", "pipelines"]\nformats = ["duckdb", "parquet"]'
  const environmentOf = (account: Account) => ({
    ...account.environment,
    SLUICE_FORMATS: "none",
    SLUICE_MODELS: "false",
    KEY: key,
    SECRET: secret
  })
  const releaseOf = (account: Account) => join(account.output, "destinations", "exports", "release")
  const argumentsOf = (place: string) => [bucket.endpoint, place, lakeExtensions(python!)]
  // The proxy of the bucket is in this process, which must not wait for the program.
  const found = async (account: Account, place: string): Promise<Found> => {
    const release = join(releaseOf(account), "crm.duckdb")
    const { stdout } = await promisify(execFile)(python!, ["-c", look, ...argumentsOf(place), release])
    return JSON.parse(stdout)
  }

  /** For the claims that are not about every table or a model. */
  const openFew = (...flags: ReadonlyArray<string>) =>
    openSynced({ tables: "contacts,opportunities", flags: ["--contacts", "20", ...flags], isAlone: true })

  const assertEqual = async (account: Account, place: string) => {
    const { differ, manifest, names, wrong } = await found(account, place)
    assert.deepStrictEqual({ wrong, differ }, { wrong: [], differ: [] })
    const release = JSON.parse(readFileSync(join(releaseOf(account), "manifest.json"), "utf8"))
    assert.strictEqual(manifest.run, release.run)
    assert.includeDeepMembers(
      manifest.files.map(({ path, sha256 }) => ({ path, sha256 })),
      release.files.map(({ path, sha256 }: Found["manifest"]["files"][number]) => ({ path, sha256 }))
    )
    const known = [
      "manifest.json",
      ...manifest.files.flatMap(({ object, path }) => [object, path]),
      ...manifest.earlier.map(({ object }) => object)
    ]
    assert.sameMembers([...names], [...new Set(known)])
    return manifest
  }

  it(`equals the release after each of ${nights} nights with kills at any request, and its readers see no mix (seed ${seed})`, async () => {
    const random = randomFrom(seed)
    const account = opened(
      await openSynced({ tables: "contacts,opportunities,pipelines,users", flags: ["--contacts", "60"], isAlone: true })
    )
    const config = settings("crm/nights", few)
    const environment = { ...environmentOf(account), ...(await knowingApart("contacts,opportunities,pipelines,users")) }
    const sync = () => start(["sync", ...only, ...config], environment)
    const publish = () => start(["publish", ...config], environment)
    let kills = 0
    let stop: (() => Promise<string>) | undefined
    for (let night = 0; night < nights; night++) {
      if (night > 0) await account.service.post("change", { contacts: 0.3, opportunities: 0.2, seed: night })
      // A killed sync may have changed the tables; publishing then brings the bucket up to date, if it is not killed as well.
      for (let killsLeft = night > 0 ? 2 : 0, command = sync; ; killsLeft--, command = publish) {
        const running = command()
        const at = 1 + Math.floor(random() * 30)
        let count = 0
        bucket.disturb(({ headers }) => {
          // Only requests of sluice: the readers sign with other programs.
          if (headers["user-agent"]?.startsWith("node") && ++count === at && killsLeft > 0) {
            running.kill("SIGKILL")
            kills++
          }
          return undefined
        })
        const { code, stderr } = await running.ended
        if (code === 0) break
        assert.isTrue(killsLeft > 0 && code === null, stderr)
      }
      await assertEqual(account, "crm/nights")
      stop ??= readingUntil(poll, ...argumentsOf("crm/nights"))
    }
    const { readings, seen, wrong } = JSON.parse(await stop!())
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(readings, nights)
    assert.isAbove(seen, nights / 2)
    assert.isAbove(kills, 1)
    process.stderr.write(`${kills} kills; ${readings} readings saw ${seen} manifests\n`)
  })

  /** What sluice sends meanwhile, apart from questions. */
  const changesDuring = async (work: () => Promise<unknown>): Promise<ReadonlyArray<string>> => {
    const seen: Array<string> = []
    bucket.disturb(({ method, url }) => {
      if (method !== "HEAD" && method !== "GET") seen.push(`${method} ${url.replace(/^\/crm\/[a-z]+\//, "")}`)
      return undefined
    })
    await work()
    bucket.disturb(() => undefined)
    return seen
  }

  it("gets only what has changed, the manifest last, and keeps the objects of the release before", async () => {
    const account = opened(await openFew())
    const config = settings("crm/changes", few)
    const run = async (...args: ReadonlyArray<string>) => {
      const ran = await sluice([...args, ...config], environmentOf(account))
      assert.strictEqual(ran.code, 0, ran.stderr)
      return ran
    }
    const first = await changesDuring(() => run("sync", ...only))
    assert.strictEqual(first[0], "PUT objects/writing.json")
    assert.deepStrictEqual(first.slice(-2), ["PUT manifest.json", "DELETE objects/writing.json"])
    assert.deepStrictEqual(await changesDuring(() => run("publish")), [])
    await account.service.post("change", { contacts: 1, seed: 2 })
    const second = await changesDuring(() => run("sync", ...only))
    assert.include(second, "PUT parquet/contacts/part-0.parquet")
    assert.notInclude(second, "PUT parquet/pipelines/part-0.parquet")
    assert.isBelow(second.length, (first.length * 2) / 3)
    assert.isNotEmpty((await assertEqual(account, "crm/changes")).earlier)
    const { stdout } = await run("verify")
    assert.match(stdout, /bucket exports +\d+ files, compared with the release +ok/)
    assert.match((await run("publish")).stdout, /exports: nothing has changed in s3:\/\/crm\/changes/)
  })

  it("may be named with any characters that its service takes", async () => {
    const account = opened(await openFew())
    const config = settings("crm/nightly run/~me@work+ü", few)
    const environment = environmentOf(account)
    for (const command of ["publish", "verify"]) {
      const ran = await sluice([command, ...config], environment)
      assert.strictEqual(ran.code, 0, ran.stdout + ran.stderr)
    }
    await assertEqual(account, "crm/nightly run/~me@work+ü")
  })

  it("that cannot be written keeps no other target from its release, names no secret, and gets everything with the next run", async () => {
    const account = opened(await openFew())
    const folder = join(newFolder(), "files")
    const config = settings(
      "crm/late",
      `${few}\n[[publish]]\nname = "files"\nfolder = "${folder}"\nprofile = "raw"\n${few}`
    )
    const environment = environmentOf(account)
    let count = 0
    bucket.disturb(({ method }) => (method === "PUT" && ++count > 3 ? "denied" : undefined))
    const failed = await sluice(["publish", ...config, "--json"], environment)
    bucket.disturb(() => undefined)
    assert.strictEqual(failed.code, 1)
    assert.match(
      failed.stdout,
      /The target exports was not changed: PUT s3:\/\/crm\/late\/objects\/.* answered 403 AccessDenied/
    )
    for (const text of [key, secret]) assert.notInclude(failed.stdout + failed.stderr, text)
    assert.isTrue(existsSync(join(folder, "crm.duckdb")))
    const wrong = await sluice(["verify", ...config], environment)
    assert.match(wrong.stderr, /WRONG +bucket exports: s3:\/\/crm\/late: it has no manifest/)
    assert.strictEqual((await sluice(["publish", ...config], environment)).code, 0)
    await assertEqual(account, "crm/late")

    // Somebody else changes an object.
    const { manifest } = await found(account, "crm/late")
    const { object } = manifest.files.find(({ path }) => path.startsWith("parquet/contacts/"))!
    await promisify(execFile)(python!, [
      "-c",
      `${readers}\nwith s3.open_output_stream(f"{place}/${object}") as file: file.write(b"other")`,
      ...argumentsOf("crm/late")
    ])
    const differs = await sluice(["verify", ...config], environment)
    assert.strictEqual(differs.code, 1)
    assert.include(
      differs.stderr,
      `WRONG  bucket exports: s3://crm/late/${object}: its content is not that of the manifest`
    )
    assert.match(differs.stderr, /Next: \.\/sluice publish .*--full/)
    assert.strictEqual((await sluice(["publish", ...config, "--full"], environment)).code, 0)
    await assertEqual(account, "crm/late")

    const other = opened(await openFew("--seed", "2"))
    const refused = await sluice(["publish", ...config], environmentOf(other))
    assert.strictEqual(refused.code, 1)
    assert.match(
      refused.stderr,
      /s3:\/\/crm\/late has the release of another output folder; .* publish .*--full replaces it/
    )
  })

  it("has nothing of an erased person, not even in earlier versions that the service keeps", async () => {
    await fetch(`${bucket.endpoint}/kept`, { method: "PUT" })
    const versioning = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
    const enabled = await fetch(`${bucket.endpoint}/kept?versioning`, { method: "PUT", body: versioning })
    assert.strictEqual(enabled.status, 200)
    const versions = async () => {
      const text = await (await fetch(`${bucket.endpoint}/kept?versions&prefix=erased/&max-keys=1000`)).text()
      return Array.from(
        text.matchAll(/<Version>.*?<Key>(.*?)<.*?<IsLatest>(.*?)</gs),
        ([, name, latest]) => `${name} ${latest}`
      )
    }
    const account = opened(await openPeople("contacts,opportunities", "--contacts", "20"))
    const person: Planted = await plant(account.service, ["opportunities"])
    await account.service.post("remove", { collection: "notes", id: person.note })
    const config = settings("kept/erased", few)
    const environment = environmentOf(account)
    const python_ = (program: string) =>
      promisify(execFile)(python!, ["-c", `${readers}\n${program}`, ...argumentsOf("kept/erased")])
    assert.strictEqual((await sluice(["sync", ...only, ...config], environment)).code, 0)
    await account.service.post("change", { contacts: 1, opportunities: 1, seed: 3 })
    assert.strictEqual((await sluice(["sync", ...only, ...config], environment)).code, 0)
    await python_(`with s3.open_output_stream(f"{place}/notes/mine.txt") as file: file.write(b"mine")`)
    assert.isNotEmpty((await found(account, "kept/erased")).manifest.earlier)
    assert.isAbove((await versions()).filter((one) => one.endsWith("false")).length, 5)
    const erased = await sluice(
      ["subject", "erase", "--contact", person.contact, "--all", "--apply", "--reason", "test", ...config],
      environment
    )
    assert.strictEqual(erased.code, 0, erased.stderr)
    const [file] = readdirSync(join(account.output, "certificates"))
    assert.deepInclude(JSON.parse(readFileSync(join(account.output, "certificates", file!), "utf8")).places, {
      name: "exports",
      folder: "s3://kept/erased",
      state: "cleaned"
    })
    const { manifest, names } = await found(account, "kept/erased")
    assert.deepStrictEqual(manifest.earlier, [])
    assert.sameMembers(
      names.filter((name) => name.startsWith("objects/")),
      manifest.files.map(({ object }) => object)
    )
    assert.include(names, "notes/mine.txt")
    assert.deepStrictEqual(
      (await versions()).filter((one) => !one.endsWith("true")),
      []
    )
    const { stdout } = await python_(`print(sum("${person.contact}".encode() in content(name) for name in names()))`)
    assert.strictEqual(stdout.trim(), "0")
  })
})

it.skipIf(python === undefined)("the statements of the page for engines can be parsed", async () => {
  const page = fileURLToPath(new URL("../../docs/destinations.md", import.meta.url))
  const script = `
import re, sys, sqlglot
page = open(sys.argv[1]).read()
for name in ["athena", "bigquery", "databricks", "redshift"]:
    text = re.search("\`\`\`" + name + "\\n(.*?)\`\`\`", page, re.S).group(1)
    parsed = [one for one in sqlglot.parse(text, dialect=name) if one]
    print(name, [one.find(sqlglot.exp.Table).name for one in parsed if one.key == "create" and one.kind == "TABLE"], [one.sql() for one in parsed if one.key == "command"])
`
  const { stdout } = await promisify(execFile)(python!, ["-c", script, page])
  assert.deepStrictEqual(
    stdout.trim().split("\n"),
    ["athena", "bigquery", "databricks", "redshift"].map((name) => `${name} ['contacts'] []`)
  )
})
