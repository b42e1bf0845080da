/** Flags of 1.0.0 that have another name: they work, and say in one line what to write. */
import { assert, it } from "@effect/vitest"
import { withNewFlags } from "../../src/cli/old-flags.ts"
import { allCommands } from "../../src/cli/commands.ts"
import { commandIn } from "../../src/console/given-flags.ts"
import { newFolder, sluice } from "../support/sluice.ts"

const renamed = (line: string) => {
  const words = line.split(" ")
  return withNewFlags(words, commandIn(words, allCommands()).path)
}

it.each([
  ["sync --full", "sync --again lists", "--full ends with 2.0.0: write --again lists."],
  ["sync --full=true", "sync --again lists", "--full ends with 2.0.0: write --again lists."],
  ["sync --full=false", "sync", "--full ends with 2.0.0: write --again lists."],
  ["plan --each --json", "plan --again all --json", "--each ends with 2.0.0: write --again all."],
  ["backfill --lists", "backfill --except details", "--lists ends with 2.0.0: write --except details."],
  ["fleet enqueue --all --full", "fleet enqueue --all --again lists", "--full ends with 2.0.0: write --again lists."],
  [
    "schedule print --cron --at 02:30",
    "schedule print --as cron --at 02:30",
    "--cron ends with 2.0.0: write --as cron."
  ],
  ["schedule print --into a/b", "schedule print --to=a/b", "--into ends with 2.0.0: write --to."],
  ["report --file=a.html", "report --to=a.html", "--file ends with 2.0.0: write --to."],
  ["init --formats duckdb,csv", "init --format=duckdb,csv", "--formats ends with 2.0.0: write --format."],
  ["ledger verify --bundle audit", "ledger verify audit", "--bundle ends with 2.0.0: write the folder alone."],
  ["explore --port 0", "explore --listen=0", "--port ends with 2.0.0: write --listen."],
  ["listen --host ::1", "listen --listen=[::1]", "--host ends with 2.0.0: write --listen."],
  ["sync --log-level error", "sync --log-level error", "--log-level ends with 2.0.0: write --quiet or --verbose."]
])("%s", (old, now, sentence) => {
  const { args, warnings } = renamed(old)
  assert.deepStrictEqual(args, now.split(" "))
  assert.deepStrictEqual(warnings, [sentence])
})

it("are one where two said one thing", () => {
  assert.deepStrictEqual(renamed("sync --full --each --lists").args, "sync --again all --except details".split(" "))
  assert.deepStrictEqual(renamed("listen --port 80 --host ::1").args, ["listen", "--listen=[::1]:80"])
})

it("stay what they are in other commands", () => {
  for (const line of [
    "publish --full",
    "sync --only --full-x",
    "serve --listen 0.0.0.0:80",
    "export bundle a --profile raw"
  ])
    assert.deepStrictEqual(renamed(line), { args: line.split(" "), warnings: [] })
})

it("are named on standard error by a command that does the same", async () => {
  const { code, stderr, stdout } = await sluice(["schedule", "print", "--cron", "--json"], {
    SLUICE_OUTPUT: newFolder()
  })
  assert.deepStrictEqual([code, JSON.parse(stdout).data.scheduler], [0, "cron"])
  assert.match(stderr, /^--cron ends with 2\.0\.0: write --as cron\.$/m)
})
