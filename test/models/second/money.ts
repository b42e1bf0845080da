/** The models of places, products, deals, invoices, orders, payments and subscriptions, from the records of the service. */
import { type Expected, type Place, at, codeOf, dayOf, daysFrom, findBy, isOneOf, product, timesOf } from "./place.ts"
import { countsAs } from "./states.ts"
import { type Sent, type World, cameAt } from "./world.ts"

const dimLocation = ({ currency, isZoneUnknown, list, zone }: Place): ReadonlyArray<Expected> =>
  list("locations").map(({ country, name }) => ({
    location_name: name,
    time_zone: zone,
    is_time_zone_unknown: isZoneUnknown,
    currency,
    country
  }))

const stages = ({ list }: Place) =>
  list("pipelines").flatMap((pipeline) =>
    pipeline.stages.map((stage: Sent) => ({
      pipeline_id: pipeline.id,
      pipeline_name: pipeline.name,
      pipeline_stage_id: stage.id,
      pipeline_stage_name: stage.name,
      stage_position: stage.position,
      stage_win_probability: stage.stageWinProbability
    }))
  )

const dimProduct = ({ list }: Place): ReadonlyArray<Expected> =>
  list("products").map((sent) => ({
    product_id: sent._id,
    product_name: sent.name,
    product_type: sent.productType,
    is_available_in_store: sent.availableInStore,
    created_at: at(sent.createdAt),
    updated_at: at(sent.updatedAt)
  }))

const opportunity = (place: Place): ReadonlyArray<Expected> =>
  place.list("opportunities").map((sent) => {
    const stage = stages(place).find(
      (one) => one.pipeline_id === sent.pipelineId && one.pipeline_stage_id === sent.pipelineStageId
    )
    const state = countsAs("opportunity", sent.status)
    const isClosed = state !== undefined && state !== "open"
    return {
      opportunity_id: sent.id,
      opportunity_name: sent.name,
      contact_id: sent.contactId,
      assigned_user_id: sent.assignedTo,
      pipeline_id: sent.pipelineId,
      pipeline_name: stage?.pipeline_name,
      pipeline_stage_id: sent.pipelineStageId,
      pipeline_stage_name: stage?.pipeline_stage_name,
      stage_position: stage?.stage_position,
      status: sent.status,
      counts_as: state,
      is_open: isOneOf(state, "open"),
      is_won: isOneOf(state, "won"),
      is_lost: isOneOf(state, "lost"),
      lost_reason_name: place.list("lost_reasons").find(({ id }) => id === sent.lostReasonId)?.name,
      source: sent.source,
      monetary_value: sent.monetaryValue,
      currency: place.currency,
      ...timesOf("created", sent.createdAt, place.zone),
      last_stage_change_at: at(sent.lastStageChangeAt),
      ...timesOf("closed", isClosed ? sent.lastStatusChangeAt : undefined, place.zone),
      forecast_expected_close_date: sent.forecastExpectedCloseDate,
      _synced_at: cameAt(place.world, "opportunities", place.location, sent.id)
    }
  })

/** The states that the nights have seen, also of a deal that is gone. */
const stageChange = ({ currency, location, world }: Place): ReadonlyArray<Expected> =>
  world.records
    .filter((one) => one.list === "opportunities" && one.location === location)
    .flatMap(({ nights }) => {
      const rows: Array<Expected> = []
      let before: Sent
      for (const [night, sent] of nights.entries()) {
        if (sent === undefined) continue
        const seen = world.nights[night]!
        const isMoved = before?.pipelineStageId !== sent.pipelineStageId
        if (before === undefined || isMoved || before.status !== sent.status) {
          const moved = at(sent.lastStageChangeAt)
          rows.push({
            opportunity_id: sent.id,
            change_number: rows.length + 1,
            pipeline_id: sent.pipelineId,
            from_stage_id: before?.pipelineStageId,
            to_stage_id: sent.pipelineStageId,
            from_status: before?.status,
            to_status: sent.status,
            monetary_value: sent.monetaryValue,
            currency,
            is_first: before === undefined,
            changed_at:
              before === undefined
                ? (moved ?? at(sent.createdAt))
                : ((isMoved ? moved : at(sent.lastStatusChangeAt)) ?? seen),
            seen_at: seen
          })
        }
        before = sent
      }
      return rows
    })

export const isInvoiceLive = ({ liveMode }: Sent): boolean => liveMode !== false

const invoice = ({ list, location, readAt, world, zone }: Place): ReadonlyArray<Expected> =>
  list("invoices").map((sent) => {
    const { amountDue, dueDate, status } = sent
    const state = countsAs("invoice", status)
    const today = dayOf(readAt, zone)!
    const isSent = isOneOf(state, "open")
    const age = dueDate === undefined ? undefined : daysFrom(dueDate, today)
    const isOverdue = isSent === true && amountDue > 0 && age !== undefined && age > 0
    const bucket = () => {
      if (isSent === false || amountDue <= 0) return undefined
      if (isSent === undefined || amountDue === undefined) return "unknown"
      if (age === undefined || age <= 0) return "not due"
      return age <= 30 ? "1-30 days" : age <= 60 ? "31-60 days" : "over 60 days"
    }
    return {
      invoice_id: sent._id,
      invoice_number: sent.invoiceNumber,
      invoice_name: sent.name,
      invoice_status: status,
      counts_as: state,
      contact_id: sent.contactId,
      currency: codeOf(sent.currency),
      total: sent.total,
      amount_paid: sent.amountPaid,
      amount_due: amountDue,
      issue_date: sent.issueDate,
      due_date: dueDate,
      is_live: isInvoiceLive(sent),
      is_paid: isOneOf(state, "paid"),
      is_overdue: isOverdue,
      days_overdue: isOverdue ? age : undefined,
      aging_bucket: bucket(),
      created_at: at(sent.createdAt),
      _synced_at: cameAt(world, "invoices", location, sent._id)
    }
  })

const invoiceLine = ({ list }: Place): ReadonlyArray<Expected> =>
  list("invoices").flatMap((sent) =>
    sent.invoiceItems.map((item: Sent, position: number) => ({
      invoice_id: sent._id,
      position,
      contact_id: sent.contactId,
      invoice_status: sent.status,
      is_live: isInvoiceLive(sent),
      issue_date: sent.issueDate,
      line_name: item.name,
      product_id: item.productId,
      product_name: findBy(list("products"), item.productId)?.name,
      price_id: item.priceId,
      qty: item.qty,
      amount: item.amount,
      line_amount: product(item.amount, item.qty),
      currency: codeOf(item.currency) ?? codeOf(sent.currency)
    }))
  )

export const orderLine = ({ list, zone }: Place): ReadonlyArray<Expected> =>
  list("orders").flatMap((sent) =>
    sent.items.map((item: Sent, position: number) => ({
      order_id: sent._id,
      position,
      contact_id: sent.contactId,
      order_status: sent.status,
      payment_status: sent.paymentStatus,
      counts_as: countsAs("order", sent.paymentStatus),
      is_live: isInvoiceLive(sent),
      product_id: item.product._id,
      product_name: findBy(list("products"), item.product._id)?.name ?? item.product.name ?? item.name,
      price_id: item.price._id,
      qty: item.qty,
      unit_amount: item.price.amount,
      line_amount: product(item.qty, item.price.amount),
      currency: codeOf(item.currency) ?? codeOf(sent.currency),
      ...timesOf("order", sent.createdAt, zone, "ordered_at")
    }))
  )

export const isLive = ({ liveMode, markAsTest }: Sent): boolean => liveMode !== false && markAsTest !== true

/** What went back: all of a payment whose state says so without an amount. */
const refundedOf = ({ amount = 0, amountRefunded, status }: Sent): number =>
  amountRefunded || (countsAs("payment", status) === "returned" ? amount : 0)

const payment = ({ list, location, world, zone }: Place): ReadonlyArray<Expected> =>
  list("transactions").map((sent) => {
    const { amount, status } = sent
    const state = countsAs("payment", status)
    const refunded = refundedOf(sent)
    return {
      payment_id: sent._id,
      contact_id: sent.contactId,
      invoice_id: sent.invoiceId,
      subscription_id: sent.subscriptionId,
      entity_type: sent.entityType,
      entity_source_type: sent.entitySourceType,
      entity_source_name: sent.entitySourceName,
      payment_provider_type: sent.paymentProviderType,
      payment_method: sent.paymentMethod,
      payment_status: status,
      counts_as: state,
      is_succeeded: isOneOf(state, "received", "returned"),
      is_live: isLive(sent),
      currency: codeOf(sent.currency),
      amount,
      refunded_amount: refunded,
      net_amount: amount === undefined ? undefined : amount - refunded,
      ...timesOf("paid", sent.createdAt, zone),
      _synced_at: cameAt(world, "transactions", location, sent._id)
    }
  })

/** The versions of a record that readings have seen, oldest first. */
const versionsOf = (world: World, list: string, location: string, id: string) =>
  world.records
    .filter((one) => one.list === list && one.location === location && one.nights.some((sent) => sent?._id === id))
    .flatMap(({ nights }) => nights.flatMap((sent, night) => (sent ? [{ sent, seen: world.nights[night]! }] : [])))

const revenue = ({ list, location, world, zone }: Place): ReadonlyArray<Expected> =>
  list("transactions").flatMap((sent) => {
    const isIn = (version: Sent) => isOneOf(countsAs("payment", version.status), "received", "returned") === true
    if (!isIn(sent)) return []
    const common = {
      payment_id: sent._id,
      contact_id: sent.contactId,
      is_live: isLive(sent),
      currency: codeOf(sent.currency)
    }
    const moves: Array<Expected> = [
      {
        ...common,
        change_number: 0,
        kind: "received",
        value: sent.amount,
        ...timesOf("moved", sent.createdAt, zone),
        is_day_sent: true
      }
    ]
    let before = 0
    for (const { seen, sent: version } of versionsOf(world, "transactions", location, sent._id)) {
      if (!isIn(version)) continue
      const refunded = refundedOf(version)
      if (refunded === before) continue
      const moved = version.updatedAt ?? new Date(seen).toISOString()
      moves.push({
        ...common,
        change_number: moves.length,
        kind: "refunded",
        value: before - refunded,
        ...timesOf("moved", moved, zone),
        is_day_sent: false
      })
      before = refunded
    }
    return moves
  })

/** The first days of the months from one day to another. */
const monthsFrom = (from: string, to: string): ReadonlyArray<string> => {
  const numberOf = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1
  const [first, last] = [numberOf(from), numberOf(to)]
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const month = first + index
    return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}-01`
  })
}

const perMonth: Readonly<Record<string, number>> = { yearly: 1 / 12, monthly: 1, weekly: 52 / 12, daily: 365 / 12 }

/** What a subscription costs a month, whatever its state. */
const pricePerMonth = ({ amount, schedule }: Sent): number | undefined => {
  const { interval, intervalType } = schedule?.rrule ?? {}
  return interval ? product(amount, 1 / interval, perMonth[intervalType]) : undefined
}

export const subscriptionMonth = ({ list, location, readAt, world, zone }: Place): ReadonlyArray<Expected> =>
  list("subscriptions").flatMap((sent) => {
    const statusOf = ({ status }: Sent): string | undefined => status?.type ?? status
    const today = dayOf(readAt, zone)!
    /** A day that says something. */
    const said = (day: string | undefined) =>
      day !== undefined && day >= "2010-01-01" && day <= today ? day : undefined
    const versions = versionsOf(world, "subscriptions", location, sent._id).map(({ seen, sent: version }) => ({
      seen,
      status: statusOf(version),
      state: countsAs("subscription", statusOf(version))
    }))
    const living = versions.filter(({ state }) => state !== "ended")
    const firstEnded = versions[versions.findLastIndex(({ state }) => state !== "ended") + 1]
    const began = said(dayOf(at(sent.createdAt), zone))
    const saidEnd = said(dayOf(at(sent.canceledAt), zone)) ?? (firstEnded && said(sent.schedule?.rrule?.endDate))
    const ended = saidEnd ?? dayOf(firstEnded?.seen, zone)
    const last = ended ?? today
    const first = began ?? last
    const price = pricePerMonth(sent)
    return monthsFrom(first, last < first ? first : last).flatMap((month_start, index, months) => {
      const next = months[index + 1] ?? monthsFrom(month_start, "9999-12-31")[1]!
      const seen = living.filter((version) => dayOf(version.seen, zone)! < next)
      const { state, status } =
        living.length === 0 ? { state: "recurring", status: statusOf(sent) } : (seen.at(-1) ?? living[0]!)
      if (state === "not begun") return []
      return [
        {
          subscription_id: sent._id,
          month_start,
          is_month_over: next <= today,
          contact_id: sent.contactId,
          subscription_status: statusOf(sent) || "unknown",
          counted_status: status,
          counts_as: state,
          is_live: isLive(sent),
          currency: codeOf(sent.currency),
          price_per_month: price,
          monthly_amount: state === undefined ? undefined : state === "recurring" ? price : 0,
          is_first_month: month_start.slice(0, 7) === began?.slice(0, 7),
          is_churn_month: month_start.slice(0, 7) === ended?.slice(0, 7),
          is_end_from_reading: saidEnd === undefined && ended !== undefined
        }
      ]
    })
  })

export const moneyModels = {
  dim_location: dimLocation,
  dim_pipeline_stage: stages as (place: Place) => ReadonlyArray<Expected>,
  dim_product: dimProduct,
  fct_opportunity: opportunity,
  fct_opportunity_stage_change: stageChange,
  fct_invoice: invoice,
  fct_invoice_line: invoiceLine,
  fct_order_line: orderLine,
  fct_payment: payment,
  fct_revenue: revenue,
  fct_subscription_month: subscriptionMonth
}
