import { type Make, further, idAt, times } from "./parts.ts"

const kinds = ["file", "file", "folder", "file", "file"]

export const moreCollections: Record<
  | "phoneNumbers"
  | "numberPools"
  | "triggerLinks"
  | "mediaFiles"
  | "campaigns"
  | "socialCategoryQueues"
  | "socialQueueItems"
  | "conversationAgents"
  | "conversationAgentActions"
  | "knowledgeBases"
  | "knowledgeBaseFaqs"
  | "knowledgeBasePages",
  Make
> = {
  // A number has no id.
  phoneNumbers: further(
    70,
    3,
    (draw, { context }) => ({
      phoneNumber: `+1212555020${draw.index}`,
      friendlyName: ["Front desk", null, "=Pool"][draw.index],
      countryCode: "US",
      capabilities: { voice: true, sms: true, mms: false, fax: false },
      type: "local",
      isDefaultNumber: draw.index === 0,
      linkedUser: draw.index === 1 ? context.userIds[0] : null,
      linkedRingAllUsers: context.userIds.slice(0, 2),
      inboundCallService: draw.index === 0 ? { type: "voice_ai", value: "va1" } : null,
      ...times(draw, "dateAdded", "dateUpdated")
    }),
    { kind: (index) => (index === 2 ? 1 : 0) }
  ),
  numberPools: further(71, 1, ({ id }, { context }) => ({
    id,
    name: "Web visitors",
    locationId: context.locationId,
    numbers: [{ phoneNumber: "+12125550202", friendlyName: "Pool 1" }],
    forwardingNumber: "+12125550200",
    whisper: true,
    whisperMessage: "Call from the web",
    callRecording: false,
    isActive: true,
    inboundCallService: null
  })),
  triggerLinks: further(72, 3, ({ id, index }, { context }) => ({
    id,
    name: ["Plan", "Offer", "=Link"][index],
    redirectTo: ["https://plan.example", "{{ custom_values.value_0 }}", "https://offer.example"][index],
    fieldKey: `{{trigger_link.${id}}}`,
    locationId: context.locationId
  })),
  mediaFiles: further(
    73,
    ({ owners }) => owners.share(0.1, 8),
    (draw, { context }) => ({
      _id: draw.id,
      altId: context.locationId,
      altType: "location",
      name: `plan ${draw.index}.pdf`,
      parentId: null,
      ...(kinds[draw.index % 5] === "file" && { url: `https://files.example/media/${draw.id}` }),
      path: `location/${context.locationId}/plan${draw.index}.pdf`,
      ...times(draw)
    }),
    { kind: (index) => (kinds[index % 5] === "folder" ? 1 : 0) }
  ),
  campaigns: further(74, 2, ({ id, index }, { context }) => ({
    id,
    name: ["Welcome", "=Old"][index],
    status: ["published", "draft"][index],
    locationId: context.locationId
  })),
  socialCategoryQueues: further(75, 2, (draw, { context, of }) => ({
    _id: draw.id,
    locationId: context.locationId,
    categoryId: idAt(of("socialCategories"), draw.index),
    timeSlots: [{ dayOfWeek: 1, time: "09:00" }],
    status: "active",
    totalPosts: 5,
    currentPostId: null,
    lastScheduledTime: null,
    createdBy: context.userIds[0],
    category: { name: "a copy" },
    ...times(draw)
  })),
  socialQueueItems: further(
    76,
    6,
    ({ id, index }, { of }) => ({
      _id: id,
      order: (index + 1) * 1000,
      variations: [{ _id: `${id}-1`, content: "Gardens are green in May" }],
      postId: idAt(of("socialPosts"), index),
      errors: [],
      scheduledDateTime: null,
      isSkipped: false,
      post: { summary: "a copy" }
    }),
    { under: ({ of }, index) => idAt(of("socialCategoryQueues"), index) ?? null }
  ),
  conversationAgents: further(77, 3, (draw, { of }) => ({
    id: draw.id,
    name: ["Garden helper", "=Desk", "Off"][draw.index],
    businessName: "Harbor & Pine",
    mode: ["auto-pilot", "suggestive", "off"][draw.index],
    channels: ["SMS", "LIVE_CHAT"],
    waitTime: 10,
    waitTimeUnit: "seconds",
    sleepEnabled: false,
    actions: [{ id: `${draw.id}-1`, type: "triggerWorkflow" }],
    isPrimary: draw.index === 0,
    autoPilotMaxMessages: 12,
    goal: { prompt: "Book a visit", type: "custom", actionId: null },
    knowledgeBaseIds: [idAt(of("knowledgeBases"), draw.index)],
    ...times(draw)
  })),
  conversationAgentActions: further(
    78,
    3,
    ({ id, index }, { of }) => ({
      id,
      name: "Send the plan",
      type: "triggerWorkflow",
      agentId: idAt(of("conversationAgents"), index),
      details: { workflowIds: ["wf-3"], triggerCondition: "When a plan is wanted" }
    }),
    { under: ({ of }, index) => idAt(of("conversationAgents"), index) ?? null }
  ),
  knowledgeBases: further(79, 3, (draw) => ({
    id: draw.id,
    name: ["House rules", "Prices", "Plants"][draw.index],
    createdAt: times(draw)["createdAt"]
  })),
  knowledgeBaseFaqs: further(
    80,
    7,
    (draw, { context, of }) => ({
      id: draw.id,
      question: "When is the office open?",
      questionLowerCase: "when is the office open?",
      answer: "From eight.",
      knowledgeBaseId: idAt(of("knowledgeBases"), draw.index),
      locationId: context.locationId,
      trainedUrlId: "tu1",
      deleted: draw.index === 6,
      ...times(draw)
    }),
    { under: ({ of }, index) => idAt(of("knowledgeBases"), index) ?? null }
  ),
  knowledgeBasePages: further(
    81,
    4,
    (draw, { context, of }) => ({
      id: draw.id,
      url: `https://pages.example/${draw.index}`,
      title: "Opening hours",
      status: "Successful",
      locationId: context.locationId,
      knowledgeBaseId: idAt(of("knowledgeBases"), draw.index),
      content: `https://texts.example/${draw.index}`,
      contentEditedByUser: false,
      updatedAt: times(draw)["updatedAt"]
    }),
    { under: ({ of }, index) => idAt(of("knowledgeBases"), index) ?? null }
  )
}
