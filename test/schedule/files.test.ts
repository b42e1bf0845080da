/** The files of each scheduler, printed or to be copied, read by the scheduler itself or by a reader that is not ours. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"
import { personCodes } from "../../src/features/operations/schedule/outcomes.ts"
import { hasPython, programOf } from "../support/programs.ts"
import { python } from "../support/python.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const analyze = programOf("systemd", "/usr/bin/systemd-analyze")
const crontab = programOf("cron", "/usr/bin/crontab")
const shellcheck = programOf("shellcheck", "/usr/bin/shellcheck")

let folder: string
beforeAll(() => (folder = newFolder()))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const printed = async (kind: string, ...flags: ReadonlyArray<string>) => {
  const into = join(folder, [kind, ...flags].join("").replaceAll(/\W/g, ""))
  const args = ["schedule", "print", "--as", kind, "--at", "02:30", "--time-zone", "Europe/Berlin", "--to", into]
  const ran = await sluice([...args, ...flags], {})
  assert.strictEqual(ran.code, 0, ran.stderr)
  return { into, stderr: ran.stderr }
}
const deployed = (name: string) => {
  const file = fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url))
  return { file, text: readFileSync(file, "utf8") }
}
const cronJob = () => {
  const { file, text } = deployed("nightly.kubernetes.yaml")
  return { file, spec: parse(text.split("---\n")[1]!).spec }
}
const checked = (program: string, ...args: ReadonlyArray<string>) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" })
  return { status, said: stdout + stderr }
}

describe("schedule print", () => {
  it.skipIf(analyze === undefined)(
    "systemd: units that systemd accepts, at the right instant in summer and winter",
    { tags: ["slow"] },
    async () => {
      const settings = join(folder, "with blank, $HOME and %n.toml")
      writeFileSync(settings, "")
      const { into } = await printed("systemd", "--config", settings)
      const units = ["sluice.service", "sluice.timer", "sluice-failed.service"].map((name) => join(into, name))
      assert.deepStrictEqual(checked(analyze!, "verify", ...units), { status: 0, said: "" })
      const [, calendar] = /^OnCalendar=(.*)$/m.exec(readFileSync(units[1]!, "utf8"))!
      const next = (from: string) =>
        checked(analyze!, "calendar", calendar!, `--base-time=${from} 12:00 UTC`).said.match(
          /Next elapse: \w+ (.*)/
        )?.[1]
      assert.strictEqual(next("2027-01-10"), "2027-01-11 01:30:00 UTC")
      assert.strictEqual(next("2027-07-10"), "2027-07-11 00:30:00 UTC")
      // A unit with a mistake is not accepted.
      assert.notStrictEqual(checked(analyze!, "calendar", `${calendar!}x`).status, 0)
    }
  )

  it.skipIf(crontab === undefined)("cron: a crontab that cron accepts", { tags: ["slow"] }, async () => {
    const { into } = await printed("cron")
    const { status, said } = checked(crontab!, "-n", join(into, "sluice.crontab"))
    assert.strictEqual(status, 0, said)
  })

  it.skipIf(shellcheck === undefined)(
    "cron: a script without a finding of shellcheck",
    { tags: ["slow"] },
    async () => {
      const { into } = await printed("cron")
      assert.deepStrictEqual(checked(shellcheck!, join(into, "sluice-nightly")), { status: 0, said: "" })
    }
  )

  it.skipIf(!hasPython)("launchd: a property list as Python reads it", { tags: ["slow"] }, async () => {
    const { into } = await printed("launchd")
    const program = "import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))"
    const list = JSON.parse(
      execFileSync("python3", ["-c", program, join(into, "local.sluice.plist")], { encoding: "utf8" })
    )
    assert.strictEqual(list.StartInterval, 900)
    assert.deepStrictEqual(list.ProgramArguments, ["/bin/sh", join(process.cwd(), "sluice-nightly")])
  })

  it.skipIf(analyze === undefined)("console: a unit that systemd accepts", { tags: ["slow"] }, async () => {
    const { into } = await printed("console")
    const { said, status } = checked(analyze!, "verify", join(into, "sluice-console.service"))
    assert.deepStrictEqual({ said, status }, { said: "", status: 0 })
  })

  it("says on which nights the clock skips or repeats the time", async () => {
    const { stderr } = await printed("systemd")
    assert.match(stderr, /On \d{4}-03-\d\d, the clock in Europe\/Berlin skips 02:30/)
    assert.match(stderr, /On \d{4}-10-\d\d, the clock in Europe\/Berlin shows 02:30 twice/)
  })

  it("names the wrong value and the next command", async () => {
    const failure = async (...args: ReadonlyArray<string>) => {
      const { code, stderr } = await sluice(["schedule", "print", ...args], {})
      assert.strictEqual(code, 2)
      return stderr
    }
    assert.include(await failure(), "Missing required flag: --as")
    assert.include(await failure("--as=cron", "--at", "25:00"), "--at 25:00: expected a time such as 02:30.")
    assert.include(await failure("--as=cron", "--time-zone", "Mars"), "--time-zone Mars: expected a name such as")
  })
})

describe("the nightly run in deploy", () => {
  it("is tried again by Kubernetes only where no person has to act", () => {
    const { spec } = cronJob()
    assert.deepInclude(spec, { schedule: "30 2 * * *", timeZone: "Europe/Berlin", concurrencyPolicy: "Forbid" })
    assert.deepStrictEqual(
      spec.jobTemplate.spec.podFailurePolicy.rules[0].onExitCodes.values,
      personCodes.map(([code]) => code)
    )
  })

  it.skipIf(python === undefined)(
    "is a CronJob that the schemas of Kubernetes accept in their strict form",
    { tags: ["slow"] },
    async () => {
      const { file } = cronJob()
      const validate = (path: string) => checked(python!, "-m", "kubernetes_validate", "--strict", path)
      const { status, said } = validate(file)
      assert.strictEqual(status, 0, said)
      const wrong = join(folder, "wrong.yaml")
      writeFileSync(wrong, readFileSync(file, "utf8").replace("startingDeadlineSeconds", "startDeadline"))
      assert.notStrictEqual(validate(wrong).status, 0, "the control")
    }
  )

  it.skipIf(shellcheck === undefined)("has a script without a finding of shellcheck", { tags: ["slow"] }, async () => {
    const { spec } = cronJob()
    const [, , script] = spec.jobTemplate.spec.template.spec.containers[0].command
    const { stdout } = spawnSync(shellcheck!, ["--shell=sh", "--severity=warning", "-"], {
      input: script,
      encoding: "utf8"
    })
    assert.strictEqual(stdout, "")
  })

  it.skipIf(python === undefined)("is a workflow that the published schema accepts", { tags: ["slow"] }, async () => {
    const { file } = deployed("nightly.github.yml")
    const schema = ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    const { status, said } = checked(python!, ...schema, file)
    assert.strictEqual(status, 0, said)
  })

  it("is a workflow that runs once a night in summer and winter", () => {
    const workflow = parse(deployed("nightly.github.yml").text)
    assert.deepStrictEqual(
      workflow.on.schedule.map(({ cron }: { cron: string }) => cron),
      ["30 0 * * *", "30 1 * * *"]
    )
    const [{ run }] = workflow.jobs.sync.steps
    const guard = `${run.split("\n").slice(0, 4).join("\n")}\necho runs`
    const runsAt = (cron: string, offset: string) =>
      execFileSync("sh", ["-c", `date() { echo ${offset}; }\n${guard}`], {
        encoding: "utf8",
        env: { STARTED_BY: cron }
      }).includes("runs")
    assert.deepStrictEqual(
      [
        runsAt("30 0 * * *", "+0200"),
        runsAt("30 1 * * *", "+0200"),
        runsAt("30 1 * * *", "+0100"),
        runsAt("", "+0100")
      ],
      [true, false, true, true]
    )
  })
})
