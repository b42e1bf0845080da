/** The models of contacts, users, conversations, appointments, tasks and forms, computed from the records of the service. */
import {
  type Expected,
  type Place,
  at,
  both,
  clockOf,
  dayOf,
  daysFrom,
  either,
  findBy,
  fullName,
  isOneOf,
  timesOf
} from "./place.ts"
import { countsAs } from "./states.ts"
import { type Sent, cameAt } from "./world.ts"

const dimContact = ({ list, location, world, zone }: Place): ReadonlyArray<Expected> =>
  list("contacts").map((sent) => ({
    contact_id: sent.id,
    contact_name: fullName(sent.name, sent.firstName, sent.lastName),
    first_name: sent.firstName,
    last_name: sent.lastName,
    email: sent.email,
    phone: sent.phone,
    company_name: sent.companyName,
    contact_type: sent.type,
    source: sent.source,
    assigned_user_id: sent.assignedTo,
    tags: JSON.stringify((sent.tags ?? []).toSorted()),
    city: sent.city,
    state: sent.state,
    postal_code: sent.postalCode,
    country: sent.country,
    is_dnd: sent.dnd,
    ...timesOf("created", sent.dateAdded, zone),
    updated_at: at(sent.dateUpdated),
    _synced_at: cameAt(world, "contacts", location, sent.id)
  }))

const acquisition = ({ list, zone }: Place): ReadonlyArray<Expected> =>
  list("contacts").map((sent) => {
    const [first, last] = [sent.attributionSource ?? {}, sent.lastAttributionSource ?? {}]
    const of = (prefix: string, visit: Sent) => ({
      [`${prefix}_session_source`]: visit.sessionSource,
      [`${prefix}_medium`]: visit.medium,
      [`${prefix}_campaign`]: visit.campaign,
      [`${prefix}_utm_source`]: visit.utmSource,
      [`${prefix}_utm_medium`]: visit.utmMedium,
      [`${prefix}_utm_campaign`]: visit.utmCampaign
    })
    return {
      contact_id: sent.id,
      ...timesOf("created", sent.dateAdded, zone),
      source: sent.source,
      ...of("first", first),
      first_url: first.url,
      first_referrer: first.referrer,
      ...of("last", last),
      channel: first.sessionSource || first.utmSource || sent.source || "unknown"
    }
  })

const dimUser = ({ list }: Place): ReadonlyArray<Expected> =>
  list("users")
    .filter(({ deleted }) => deleted !== true)
    .map(({ email, firstName, id, lastName, name, roles }) => ({
      user_id: id,
      user_name: fullName(name, firstName, lastName),
      email,
      roles_type: roles.type,
      roles_role: roles.role,
      is_admin: roles.role === "admin"
    }))

const isOfKind = (type: string | undefined, kind: string): boolean => type?.startsWith(kind) ?? false
const isBetweenPeople = ({ messageType }: Sent): boolean =>
  !isOfKind(messageType, "TYPE_ACTIVITY") && !isOfKind(messageType, "TYPE_INTERNAL_COMMENT")

const message = ({ list, location, world, zone }: Place): ReadonlyArray<Expected> =>
  list("messages").map((sent) => ({
    message_id: sent.id,
    conversation_id: sent.conversationId,
    contact_id: sent.contactId,
    user_id: sent.userId,
    message_type: sent.messageType,
    direction: sent.direction,
    message_status: sent.status,
    counts_as: countsAs("message", sent.status),
    source: sent.source,
    is_activity: isOfKind(sent.messageType, "TYPE_ACTIVITY"),
    is_internal_comment: isOfKind(sent.messageType, "TYPE_INTERNAL_COMMENT"),
    is_between_people: isBetweenPeople(sent),
    ...timesOf("sent", sent.dateAdded, zone),
    call_duration_seconds: sent.meta?.call?.duration,
    _synced_at: cameAt(world, "messages", location, sent.id)
  }))

const call = ({ list, location, world, zone }: Place): ReadonlyArray<Expected> =>
  list("messages")
    .filter(({ messageType }) => isOneOf(messageType, "TYPE_CALL", "TYPE_CAMPAIGN_VOICEMAIL"))
    .map((sent) => {
      const { duration, status } = sent.meta?.call ?? {}
      return {
        message_id: sent.id,
        conversation_id: sent.conversationId,
        contact_id: sent.contactId,
        user_id: sent.userId,
        direction: sent.direction,
        call_status: status,
        counts_as: countsAs("call", status),
        is_answered: isOneOf(countsAs("call", status), "answered"),
        is_voicemail: either(
          isOneOf(countsAs("call", status), "voicemail"),
          sent.messageType === "TYPE_CAMPAIGN_VOICEMAIL"
        ),
        call_duration_seconds: duration,
        ...timesOf("sent", sent.dateAdded, zone),
        _synced_at: cameAt(world, "messages", location, sent.id)
      }
    })

/** Minutes of the clock from Monday to Friday, 9:00 to 17:00, day by day. */
const workingMinutes = (from: string, to: string): number => {
  const minuteOf = (clock: string) => Math.floor(Date.parse(`${clock.replace(" ", "T")}Z`) / 60_000)
  const [begin, end] = [minuteOf(from), minuteOf(to)]
  let minutes = 0
  for (let midnight = begin - (begin % 1440); midnight <= end; midnight += 1440) {
    if ([0, 6].includes(new Date(midnight * 60_000).getUTCDay())) continue
    minutes += Math.max(0, Math.min(end, midnight + 17 * 60) - Math.max(begin, midnight + 9 * 60))
  }
  return minutes
}

/** A message that is known to have failed or to wait is no reply. */
const isUnsent = ({ status }: Sent): boolean => ["failed", "waiting"].includes(countsAs("message", status) ?? "")

const reply = ({ list, zone }: Place): ReadonlyArray<Expected> => {
  const known = list("messages").filter(
    (sent) => isBetweenPeople(sent) && sent.dateAdded !== undefined && sent.direction !== undefined
  )
  return [...Map.groupBy(known, ({ conversationId }) => conversationId).values()].flatMap((own) => {
    const inOrder = own.toSorted(
      (one, other) => at(one.dateAdded)! - at(other.dateAdded)! || (one.id < other.id ? -1 : 1)
    )
    const questions = inOrder.filter(
      ({ direction }, index) => direction === "inbound" && inOrder[index - 1]?.direction !== "inbound"
    )
    return questions.map((question, index) => {
      const answer = inOrder
        .slice(inOrder.indexOf(question))
        .find((sent) => sent.direction === "outbound" && !isUnsent(sent))
      const [asked, replied] = [at(question.dateAdded)!, at(answer?.dateAdded)]
      const clock = clockOf(asked, zone)!
      return {
        conversation_id: question.conversationId,
        contact_id: question.contactId,
        question_message_id: question.id,
        asked_at: asked,
        asked_local: clock,
        asked_local_date: dayOf(asked, zone),
        is_first_question: index === 0,
        reply_message_id: answer?.id,
        replied_at: replied,
        replied_by_user_id: answer?.userId,
        reply_source: answer?.source,
        is_replied: answer !== undefined,
        reply_minutes: replied === undefined ? undefined : Math.round((replied - asked) / 600) / 100,
        reply_business_minutes: replied === undefined ? undefined : workingMinutes(clock, clockOf(replied, zone)!)
      }
    })
  })
}

const email = ({ list, zone }: Place): ReadonlyArray<Expected> =>
  list("emails").map((sent) => {
    const state = countsAs("email", sent.status)
    const isSent = sent.direction === undefined ? undefined : sent.direction === "outbound"
    return {
      email_id: sent.id,
      conversation_id: sent.conversationId,
      contact_id: sent.contactId,
      direction: sent.direction,
      source: sent.source,
      email_status: sent.status,
      counts_as: state,
      is_sent: both(isSent, isOneOf(state, "sent", "opened")),
      is_opened: both(isSent, isOneOf(state, "opened")),
      is_failed: both(isSent, isOneOf(state, "failed")),
      ...timesOf("sent", sent.dateAdded, zone)
    }
  })

const appointment = ({ list, location, readAt, world, zone }: Place): ReadonlyArray<Expected> =>
  list("appointments")
    .filter(({ deleted }) => deleted !== true)
    .map((sent) => {
      const state = countsAs("appointment", sent.appointmentStatus)
      const [start, end] = [at(sent.startTime), at(sent.endTime)]
      return {
        appointment_id: sent.id,
        calendar_id: sent.calendarId,
        calendar_name: findBy(list("calendars"), sent.calendarId)?.name,
        contact_id: sent.contactId,
        assigned_user_id: sent.assignedUserId,
        appointment_status: sent.appointmentStatus,
        counts_as: state,
        is_no_show: isOneOf(state, "missed"),
        is_attended: isOneOf(state, "attended"),
        is_cancelled: isOneOf(state, "cancelled"),
        is_past: start === undefined ? undefined : start < readAt,
        ...timesOf("start", sent.startTime, zone, "start_time"),
        end_time: end,
        duration_minutes: start === undefined || end === undefined ? undefined : Math.trunc((end - start) / 60_000),
        booked_at: at(sent.dateAdded),
        created_by_source: sent.createdBy?.source,
        _synced_at: cameAt(world, "appointments", location, sent.id)
      }
    })

const task = ({ list, location, readAt, world, zone }: Place): ReadonlyArray<Expected> =>
  list("tasks")
    .filter(({ deleted }) => deleted !== true)
    .map((sent) => {
      const due = at(sent.dueDate)
      const isOpen = sent.completed === undefined ? undefined : !sent.completed
      const isOverdue = both(isOpen, due === undefined ? undefined : due < readAt)
      return {
        task_id: sent.id,
        contact_id: sent.contactId,
        assigned_user_id: sent.assignedTo,
        is_completed: sent.completed,
        counts_as: isOpen === undefined ? undefined : isOpen ? "open" : "done",
        ...timesOf("due", sent.dueDate, zone, "due_date"),
        is_overdue: isOverdue,
        overdue_days: isOverdue ? daysFrom(dayOf(due, zone)!, dayOf(readAt, zone)!) : undefined,
        created_at: at(sent.dateAdded),
        updated_at: at(sent.dateUpdated),
        _synced_at: cameAt(world, "tasks", location, sent.id)
      }
    })

const campaign = ({ list, zone }: Place): ReadonlyArray<Expected> =>
  list("email_campaigns")
    .filter(({ deleted }) => deleted !== true)
    .map((sent) => ({
      email_campaign_id: sent.id,
      campaign_name: sent.name,
      campaign_status: sent.status,
      campaign_type: sent.campaignType,
      source: sent.source,
      subject: sent.subject,
      from_email: sent.fromEmail,
      ...timesOf("created", sent.createdAt, zone),
      updated_at: at(sent.updatedAt)
    }))

const submission = ({ list, zone }: Place): ReadonlyArray<Expected> =>
  list("form_submissions").map((sent) => {
    const { medium, page, referrer, source } = sent.others?.eventData ?? {}
    const submitted = at(sent.createdAt)
    const [deal] = list("opportunities")
      .filter(({ contactId }) => contactId !== undefined && contactId === sent.contactId)
      .filter(({ createdAt }) => submitted !== undefined && at(createdAt)! >= submitted)
      .toSorted((one, other) => at(one.createdAt)! - at(other.createdAt)! || (one.id < other.id ? -1 : 1))
    return {
      form_submission_id: sent.id,
      form_id: sent.formId,
      form_name: findBy(list("forms"), sent.formId)?.name,
      contact_id: sent.contactId,
      ...timesOf("submitted", sent.createdAt, zone),
      page_url: page?.url,
      medium,
      source,
      referrer,
      opportunity_id: deal?.id,
      opportunity_created_at: at(deal?.createdAt),
      opportunity_status: deal?.status,
      has_opportunity: deal !== undefined
    }
  })

export const peopleModels = {
  dim_contact: dimContact,
  dim_user: dimUser,
  fct_contact_acquisition: acquisition,
  fct_message: message,
  fct_call: call,
  fct_conversation_reply: reply,
  fct_email: email,
  fct_email_campaign: campaign,
  fct_appointment: appointment,
  fct_task: task,
  fct_form_submission: submission
}
