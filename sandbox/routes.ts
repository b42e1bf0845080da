import { blogRoutes } from "./families/blogs/blogs.ts"
import { formUploadRoutes } from "./families/forms/upload.ts"
import { formRoutes, surveyRoutes } from "./families/forms/forms.ts"
import { funnelRoutes } from "./families/funnels/funnels.ts"
import { socialSearchRoutes } from "./families/social/post-search.ts"
import { socialRoutes } from "./families/social/posts.ts"
import { couponRoutes } from "./families/payments/coupons.ts"
import { documentTemplateRoutes } from "./families/invoices/document-templates.ts"
import { emailCampaignRoutes } from "./families/emails/campaigns.ts"
import { emailTemplateListRoutes } from "./families/emails/template-list.ts"
import { emailTemplateRoutes } from "./families/emails/templates.ts"
import { estimateRoutes } from "./families/invoices/estimates.ts"
import { invoiceActionRoutes } from "./families/invoices/invoice-actions.ts"
import { invoiceRoutes } from "./families/invoices/invoices.ts"
import { orderActionRoutes } from "./families/payments/order-actions.ts"
import { orderRoutes } from "./families/payments/orders.ts"
import { priceRoutes } from "./families/products/prices.ts"
import { productBulkRoutes } from "./families/products/bulk-update.ts"
import { productRoutes } from "./families/products/products.ts"
import { transactionRoutes } from "./families/payments/transactions.ts"
import { appointmentRoutes } from "./families/calendars/appointments.ts"
import { calendarRoutes } from "./families/calendars/calendars.ts"
import { contactRoutes } from "./families/contacts/contacts.ts"
import { contactDuplicateRoutes } from "./families/contacts/duplicates.ts"
import { contactTagRoutes } from "./families/contacts/tags.ts"
import { contactTaskRoutes } from "./families/contacts/tasks.ts"
import { contactUpsertRoutes } from "./families/contacts/upsert.ts"
import { contactSearchRoutes } from "./families/contacts/search.ts"
import { conversationWriteRoutes } from "./families/conversations/conversation-writes.ts"
import { conversationRoutes } from "./families/conversations/conversations.ts"
import { customFieldRoutes } from "./families/custom-fields/custom-fields.ts"
import { customFieldUploadRoutes } from "./families/custom-fields/custom-field-upload.ts"
import { locationListRoutes } from "./families/locations/location-lists.ts"
import { locationRoutes } from "./families/locations/locations.ts"
import { messageExportRoutes } from "./families/conversations/message-export.ts"
import { messageRoutes } from "./families/conversations/messages.ts"
import { noteRoutes } from "./families/contacts/notes.ts"
import { objectFieldRoutes } from "./families/custom-fields/object-fields.ts"
import { opportunityRoutes } from "./families/opportunities/opportunities.ts"
import { opportunityPostSearchRoutes } from "./families/opportunities/search-by-body.ts"
import { opportunitySearchRoutes } from "./families/opportunities/search.ts"
import { opportunityUpsertRoutes } from "./families/opportunities/upsert.ts"
import { pipelineRoutes } from "./families/opportunities/pipelines.ts"
import { recordingRoutes } from "./families/conversations/recordings.ts"
import { recurringTaskRoutes } from "./families/locations/recurring-tasks.ts"
import { userRoutes } from "./families/users/users.ts"
import { userWriteRoutes } from "./families/users/user-writes.ts"
import { workflowRoutes } from "./families/workflows/workflows.ts"
import type { Route } from "./http/route.ts"

/** All operations, except that of the token endpoint. */
export const routes: ReadonlyArray<Route> = [
  ...contactRoutes,
  ...contactSearchRoutes,
  ...contactUpsertRoutes,
  ...contactDuplicateRoutes,
  ...contactTagRoutes,
  ...contactTaskRoutes,
  ...noteRoutes,
  ...pipelineRoutes,
  ...opportunityRoutes,
  ...opportunityUpsertRoutes,
  ...opportunitySearchRoutes,
  ...opportunityPostSearchRoutes,
  ...calendarRoutes,
  ...appointmentRoutes,
  ...userRoutes,
  ...userWriteRoutes,
  ...locationRoutes,
  ...locationListRoutes,
  ...recurringTaskRoutes,
  ...customFieldRoutes,
  ...customFieldUploadRoutes,
  ...objectFieldRoutes,
  ...workflowRoutes,
  ...conversationRoutes,
  ...conversationWriteRoutes,
  ...recordingRoutes,
  ...messageRoutes,
  ...messageExportRoutes,
  ...emailTemplateListRoutes,
  ...emailTemplateRoutes,
  ...emailCampaignRoutes,
  ...productRoutes,
  ...productBulkRoutes,
  ...priceRoutes,
  ...invoiceRoutes,
  ...invoiceActionRoutes,
  ...estimateRoutes,
  ...documentTemplateRoutes,
  ...orderRoutes,
  ...orderActionRoutes,
  ...transactionRoutes,
  ...couponRoutes,
  ...socialSearchRoutes,
  ...socialRoutes,
  ...blogRoutes,
  ...funnelRoutes,
  ...formUploadRoutes,
  ...surveyRoutes,
  ...formRoutes
]
