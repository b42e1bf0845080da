import { usualLimits } from "../../src/values/limits.ts"
import { assert, describe, it } from "@effect/vitest"
import { type Parameters, get } from "../../src/catalog/request.ts"
import type { Paging, Strategy } from "../../src/catalog/resource.ts"
import { advance } from "../../src/stages/extract/paging.ts"
import { type ListProgress, type Step, apply, idOf } from "../../src/stages/extract/list-progress.ts"
import { randomFrom } from "../support/random.ts"
import type { Checkpoint } from "../../src/values/checkpoint.ts"
import { checkpoint as initial } from "../support/checkpoint.ts"

interface Item {
  readonly id: string
  readonly at: number
}
interface Request {
  readonly cursor: unknown
  readonly size: number
  readonly window: readonly [from: number, to: number, most?: number] | undefined
  /** In addition to those of the strategy. */
  readonly parameters: Parameters | undefined
}
interface Answer {
  readonly items: ReadonlyArray<Item>
  readonly [field: string]: unknown
}

const start = initial
const strategy = (paging: Paging, more: Partial<Strategy> = {}): Strategy => ({
  request: get("/items"),
  paging,
  records: "items",
  pageSize: 10,
  ...more
})

/** Reads a list to its end as `extract` does. */
const readAll = (
  definition: Strategy,
  answer: (request: Request) => Answer,
  options: { readonly begin?: Partial<ListProgress>; readonly since?: number; readonly changed?: string } = {}
) => {
  const seen: Array<string> = []
  let checkpoint: Checkpoint = { ...start, ...options.begin }
  let live: unknown
  for (let pages = 0; !checkpoint.done; pages++) {
    if (pages > 2000) throw new Error("no end")
    const cursor = definition.paging.kind === "expiring" ? live : checkpoint.cursor
    const parameters = checkpoint.ties?.left[0]?.parameters
    const body = answer({ cursor, size: definition.pageSize, window: checkpoint.windows?.[0], parameters })
    const step: Step = advance(
      {
        strategy: definition,
        since: options.since,
        limits: usualLimits.extract,
        changes: options.changed ? { field: options.changed, overlap: "0 days", strategies: [] } : undefined
      },
      checkpoint,
      { records: body.items, ids: body.items.map(idOf), body, size: definition.pageSize }
    )
    seen.push(...body.items.map(({ id }) => id))
    if (step.kind === "failed") return { seen, failed: step.reason.message, checkpoint }
    checkpoint = apply(checkpoint, step.progress)
    live = step.cursor
  }
  return { seen, checkpoint, failed: undefined }
}

const items = (count: number, at: (n: number) => number = (n) => n * 1000): ReadonlyArray<Item> =>
  Array.from({ length: count }, (_, n) => ({ id: `i${n}`, at: 1_700_000_000_000 + at(n) }))

const sameIds = (seen: ReadonlyArray<string>, list: ReadonlyArray<Item>, message?: string) =>
  assert.deepStrictEqual([...new Set(seen)].sort(), list.map(({ id }) => id).sort(), message)

const offsetService = (list: ReadonlyArray<Item>) => (request: Request) => {
  const skip = Number(request.cursor ?? 0)
  return { items: list.slice(skip, skip + request.size), total: list.length }
}

describe("every record is read, whatever the number of records", () => {
  for (const count of [0, 1, 9, 10, 11, 19, 20, 21, 95, 100, 101]) {
    const list = items(count)

    it(`offset, ${count}`, () => {
      const { seen, checkpoint } = readAll(strategy({ kind: "offset" }, { total: "total" }), offsetService(list))
      sameIds(seen, list)
      assert.strictEqual(checkpoint.count, count)
    })

    it(`page number, ${count}`, () => {
      const { seen } = readAll(strategy({ kind: "pageNumber", first: 1 }), ({ cursor, size }) => {
        const page = Number(cursor ?? 1)
        return { items: list.slice((page - 1) * size, page * size) }
      })
      sameIds(seen, list)
    })

    it(`cursor in the last record, also on the last page, ${count}`, () => {
      const { seen } = readAll(strategy({ kind: "lastRecord", field: "searchAfter" }), ({ cursor, size }) => {
        const after = Array.isArray(cursor) ? list.findIndex(({ id }) => id === cursor[1]) + 1 : 0
        return { items: list.slice(after, after + size).map((item) => ({ ...item, searchAfter: [item.at, item.id] })) }
      })
      sameIds(seen, list)
    })

    it(`pair of cursors in the body, ${count}`, () => {
      const paging: Paging = { kind: "body", parts: { startAfter: "meta.at", startAfterId: "meta.id" } }
      const { seen } = readAll(strategy(paging), ({ cursor, size }) => {
        const from = cursor as { startAfterId: string } | undefined
        const after = from ? list.findIndex(({ id }) => id === from.startAfterId) + 1 : 0
        const page = list.slice(after, after + size)
        return { items: page, meta: { at: page.at(-1)?.at, id: page.at(-1)?.id } }
      })
      sameIds(seen, list)
    })

    it(`expiring cursor, ${count}`, () => {
      const { seen, checkpoint } = readAll(
        strategy({ kind: "expiring", field: "next", anchor: "at" }),
        ({ cursor, size }) => {
          const after = Number(cursor ?? 0)
          return { items: list.slice(after, after + size), next: after + size < count ? after + size : null }
        }
      )
      sameIds(seen, list)
      assert.strictEqual(checkpoint.anchor, list.at(-1)?.at)
      assert.isUndefined(checkpoint.cursor, "an expiring cursor is not stored")
    })
  }
})

const sortedService = (list: ReadonlyArray<Item>) => (request: Request) => ({
  items: list.filter(({ at }) => at > Number(request.cursor ?? Number.NEGATIVE_INFINITY)).slice(0, request.size)
})

describe("a sort value as cursor", () => {
  it.each([
    ["ascending", 1],
    ["descending", -1]
  ])("in %s order loses no ties at page boundaries, and reports ties that do not fit on a page", (_, direction) => {
    let warned = 0
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomFrom(seed)
      let at = 0
      const list = items(80, () => (at += random() < 0.5 ? 0 : direction))
      const longestTie = Math.max(...list.map((item) => list.filter((other) => other.at === item.at).length))
      const { seen, checkpoint } = readAll(
        strategy({ kind: "sortValue", field: "at", ...(direction < 0 && { descending: true }) }),
        ({ cursor, size }) => ({
          items: list
            .filter((item) => cursor === undefined || (item.at - Number(cursor)) * direction > 0)
            .slice(0, size)
        })
      )
      if (longestTie < 10) {
        sameIds(seen, list, `seed ${seed}`)
        assert.deepStrictEqual(checkpoint.warnings, [])
      } else {
        warned++
        assert.isNotEmpty(checkpoint.warnings, `seed ${seed}`)
      }
    }
    assert.isAbove(warned, 0)
    assert.isBelow(warned, 20)
  })

  it("more ties than fit on a page cause a warning", () => {
    const { checkpoint } = readAll(strategy({ kind: "sortValue", field: "at" }), sortedService(items(30, () => 0)))
    assert.deepStrictEqual(checkpoint.warnings, [{ _tag: "TiesLimited", field: "at" }])
  })

  it("a service that does not sort as requested is detected", () => {
    const { failed } = readAll(strategy({ kind: "sortValue", field: "at" }), () => ({ items: items(10).toReversed() }))
    assert.match(failed!, /does not sort/)
  })
})

describe("a list that changes while it is read", () => {
  it("offset: every record that exists throughout is read", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = randomFrom(seed)
      const all = items(60)
      let list = [...all]
      const deleted = new Set<string>()
      const { seen } = readAll(strategy({ kind: "offset" }), (request) => {
        const answer = offsetService(list)(request)
        const skip = Number(request.cursor ?? 0)
        // Between two pages, records before the offset are deleted and new ones appear at the front.
        for (let n = 0; n < 3 && random() < 0.4 && skip > 0; n++) {
          const [victim] = list.splice(Math.floor(random() * skip), 1)
          if (victim) deleted.add(victim.id)
        }
        if (random() < 0.2) list = [{ id: `new${skip}-${random()}`, at: 0 }, ...list]
        return { items: answer.items }
      })
      for (const { id } of all) if (!deleted.has(id)) assert.include(seen, id, `seed ${seed}`)
    }
  })

  it("page numbers: a falling total causes a step back, so that no record after a deleted one is missed", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = randomFrom(seed)
      const all = items(60)
      const list = [...all]
      const deleted = new Set<string>()
      const { seen } = readAll(strategy({ kind: "pageNumber", first: 1 }, { total: "total" }), ({ cursor, size }) => {
        const skip = (Number(cursor ?? 1) - 1) * size
        const answer = { items: list.slice(skip, skip + size), total: list.length }
        for (let n = 0; n < 3 && random() < 0.4 && skip > 0; n++) {
          const [victim] = list.splice(Math.floor(random() * skip), 1)
          if (victim) deleted.add(victim.id)
        }
        return answer
      })
      for (const { id } of all) if (!deleted.has(id)) assert.include(seen, id, `seed ${seed}`)
    }
  })

  it("a list that loses records endlessly is given up", () => {
    const list = items(100)
    let requests = 0
    const sliding = (total: (n: number) => number) => (request: Request) => ({
      items: list.slice(0, request.size),
      total: total(requests++)
    })
    const numbered = readAll(strategy({ kind: "pageNumber", first: 1 }, { total: "total" }), ({ cursor, size }) => ({
      ...sliding((n) => (n % 2 === 0 ? 500 : 10))({ cursor, size } as Request),
      items: items(requests * size).slice(-size)
    }))
    assert.match(numbered.failed ?? "", /disappear from the list faster|the list continues after/)
    const offset = readAll(strategy({ kind: "offset" }), () => ({
      items: items((requests += 10)).slice(-10),
      total: 0
    }))
    assert.match(offset.failed ?? "", /disappear from the list faster/)
  })

  it("a sort value with more ties than fit on a page is read in parts, and a full part in smaller parts", () => {
    const list = items(90).map((item, index) => ({
      ...item,
      at: 1_700_000_000_000 + (index < 20 ? index : 50),
      source: index % 2,
      kind: index % 7
    }))
    const splitBy = [[{ source: 0 }, { source: 1 }], [0, 1, 2, 3, 4, 5, 6].map((kind) => ({ kind }))]
    const definition = strategy({ kind: "sortValue", field: "at", splitBy })
    const { seen, checkpoint } = readAll(definition, ({ cursor, size, parameters }) => ({
      items: list
        .filter((item) => item.at > Number(cursor ?? Number.NEGATIVE_INFINITY))
        .filter((item) =>
          Object.entries(parameters ?? {}).every(([name, value]) => item[name as "source" | "kind"] === value)
        )
        .slice(0, size)
    }))
    sameIds(seen, list)
    assert.deepStrictEqual(checkpoint.warnings, [])
    assert.strictEqual(checkpoint.count, list.length)
    const bare = readAll(strategy({ kind: "sortValue", field: "at" }), ({ cursor, size }) => ({
      items: list.filter((item) => item.at > Number(cursor ?? Number.NEGATIVE_INFINITY)).slice(0, size)
    }))
    assert.deepStrictEqual(bare.checkpoint.warnings, [{ _tag: "TiesLimited", field: "at" }])
  })
})

describe("an inconsistent service", () => {
  it("a repeated page is an error for page numbers", () => {
    const { failed } = readAll(strategy({ kind: "pageNumber", first: 1 }), () => ({ items: items(10) }))
    assert.match(failed!, /repeats/)
  })

  it("a cursor that does not advance is an error if records are missing, otherwise the end", () => {
    const stuck = (total: number) =>
      readAll(strategy({ kind: "lastRecord", field: "id" }, { total: "total" }), () => ({ items: items(10), total }))
    assert.match(stuck(25).failed!, /does not advance after 10 of 25/)
    assert.isUndefined(stuck(10).failed)
  })

  it("a full page without its cursor is an error", () => {
    const { failed } = readAll(strategy({ kind: "lastRecord", field: "searchAfter" }), () => ({ items: items(10) }))
    assert.match(failed!, /have no searchAfter/)
  })

  it("a filter that the service ignores is detected in the records", () => {
    const definition = strategy({ kind: "lastRecord", field: "id" }, { verifyField: "at" })
    const { failed } = readAll(definition, () => ({ items: items(3) }), { since: 1_800_000_000_000 })
    assert.match(failed!, /ignores the filter/)
  })

  it("pages shorter than requested are followed by another: because of the total, or by one trial request", () => {
    const list = items(70)
    const cut = (total: boolean) => (request: Request) => {
      const skip = Number(request.cursor ?? 0)
      return { items: list.slice(skip, skip + 25), ...(total && { total: list.length }) }
    }
    const definition = strategy({ kind: "offset" }, { pageSize: 100 })
    assert.isAtLeast(new Set(readAll(definition, cut(false)).seen).size, 49)
    assert.isAtLeast(new Set(readAll({ ...definition, total: "total" }, cut(true)).seen).size, 49)
  })
})

describe("windows", () => {
  const windowed =
    (list: ReadonlyArray<Item>) =>
    ({ window, size }: Request) => {
      const inside = list.filter(({ at }) => at >= window![0] && at < window![1])
      return { items: inside.slice(0, size), total: inside.length }
    }
  const oneWindow = { begin: { windows: [[1_600_000_000_000, 1_800_000_000_000]] as const } }

  it("are halved until each fits on one page", () => {
    const list = items(137)
    const { seen, checkpoint } = readAll(
      strategy({ kind: "once" }, { maxRecords: 10, total: "total" }),
      windowed(list),
      oneWindow
    )
    sameIds(seen, list)
    assert.deepStrictEqual(checkpoint.warnings, [])
  })

  it("are halved by the page size the service allows, if that is smaller than requested", () => {
    const list = items(80)
    const { seen } = readAll(strategy({ kind: "once" }, { maxRecords: 500, total: "total" }), windowed(list), oneWindow)
    sameIds(seen, list)
  })

  it("that cannot be halved any further cause a warning", () => {
    const { checkpoint } = readAll(
      strategy({ kind: "once" }, { maxRecords: 10 }),
      windowed(items(12, () => 0)),
      oneWindow
    )
    assert.deepStrictEqual(checkpoint.warnings, [{ _tag: "TimestampLimited", at: 1_700_000_000_000 }])
  })
})

describe("newest first", () => {
  const list = items(100).toReversed()
  const export_ = ({ cursor, size }: Request) => {
    const after = Number(cursor ?? 0)
    return { items: list.slice(after, after + size), next: after + size < 100 ? after + size : null }
  }
  it("stops at the first page that ends before the watermark", () => {
    const definition = strategy({ kind: "expiring", field: "next" }, { stopBefore: "at" })
    const { seen } = readAll(definition, export_, { since: 1_700_000_000_000 + 84_500, changed: "at" })
    assert.strictEqual(seen.length, 20)
  })
})
