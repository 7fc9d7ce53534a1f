import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { Budget, BudgetAlert, ListAlerts, ListBudgets } from './budgets/schema.ts';
import { listAlerts, listBudgets } from './budgets/service.ts';
import { CreateLimit, LimitPolicy, LimitPolicyDetail, LimitRef, ListLimits, UpdateLimit } from './limits/schema.ts';
import * as limits from './limits/service.ts';
import { ListPrices, Price, PriceRef, PutPrice } from './prices/schema.ts';
import * as prices from './prices/service.ts';
import { AiRequest, AiRequestRef, ListAiRequests } from './requests/schema.ts';
import * as requests from './requests/service.ts';
import { BreakdownQuery, ExportUsage, Usage, UsageExport, UsageQuery } from './usage/schema.ts';
import { exportUsage, exportUsageCsv, getBreakdown, getUsage } from './usage/service.ts';
import { AiUser, AiUserRef, CreateAiUser, ListAiUsers, UpdateAiUser } from './users/schema.ts';
import * as users from './users/service.ts';

export const usage = operation({
  id: 'ai_spend.usage',
  summary: 'Get AI usage',
  http: 'GET /ai-gateway/usage',
  kind: 'read',
  needs: ['ai_gateway:read_usage'],
  refuses: [],
  input: UsageQuery,
  output: Usage,
  run: (ctx, input) => getUsage(ctx, input),
});

/** JSON in the envelope, or CSV as it is. */
export const exported = operation({
  id: 'ai_spend.export',
  summary: 'Export AI usage',
  http: 'GET /ai-gateway/usage/export',
  kind: 'read',
  needs: ['ai_gateway:read_usage'],
  mirrored: true,
  refuses: [],
  input: ExportUsage,
  output: UsageExport,
  stream: (ctx, input) => exportUsageCsv(ctx, input),
  streams: ({ format }) => format === 'csv',
  run: (ctx, input) => exportUsage(ctx, input),
});

export const breakdown = operation({
  id: 'ai_spend.breakdown',
  summary: 'Get AI usage by one thing',
  http: 'GET /admin/ai-gateway/usage/breakdown',
  kind: 'read',
  needs: ['ai_gateway:read_usage'],
  refuses: [],
  input: BreakdownQuery,
  output: UsageExport,
  run: (ctx, input) => getBreakdown(ctx, input),
});

export const listRequests = operation({
  id: 'ai_spend.requests.list',
  summary: 'List AI calls',
  http: 'GET /ai-gateway/requests',
  kind: 'read',
  needs: ['ai_gateway:read_usage'],
  refuses: [],
  input: ListAiRequests,
  output: z.array(AiRequest),
  list: 'feed',
  run: (ctx, input) => requests.listRequests(ctx, input),
});

export const getRequest = operation({
  id: 'ai_spend.requests.get',
  summary: 'Get an AI call',
  http: 'GET /ai-gateway/requests/{request_id}',
  kind: 'read',
  needs: ['ai_gateway:read_usage'],
  refuses: ['not_found'],
  input: AiRequestRef,
  output: AiRequest,
  run: (ctx, input) => requests.getRequest(ctx, input),
});

export const budgets = operation({
  id: 'ai_spend.budgets',
  summary: 'List what gateways and agents have spent',
  http: 'GET /ai-gateway/budgets',
  kind: 'read',
  needs: ['ai_gateway:read_usage'],
  refuses: [],
  input: ListBudgets,
  output: z.array(Budget),
  list: 'whole',
  run: async (ctx, input) => wholeList(await listBudgets(ctx, input)),
});

export const alerts = operation({
  id: 'ai_spend.alerts',
  summary: 'List AI alerts',
  http: 'GET /ai-gateway/alerts',
  kind: 'read',
  needs: ['ai_gateway:read_usage'],
  refuses: [],
  input: ListAlerts,
  output: z.array(BudgetAlert),
  list: 'paged',
  run: (ctx, input) => listAlerts(ctx, input),
});

export const listPrices = operation({
  id: 'ai_spend.prices.list',
  summary: 'List model prices',
  http: 'GET /ai-gateway/prices',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: ListPrices,
  output: z.array(Price),
  list: 'paged',
  run: (ctx, input) => prices.listPrices(ctx, input),
});

export const putPrice = operation({
  id: 'ai_spend.prices.put',
  summary: "Set a model's price",
  http: 'PUT /ai-gateway/prices/{provider}/{model}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  refuses: ['not_found', 'conflict'],
  input: PutPrice,
  output: Price,
  run: (ctx, input) => prices.putPrice(ctx, input),
});

export const deletePrice = operation({
  id: 'ai_spend.prices.delete',
  summary: 'Remove a price of your own',
  http: 'DELETE /ai-gateway/prices/{provider}/{model}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  refuses: ['not_found'],
  input: PriceRef,
  output: Deleted,
  run: (ctx, input) => prices.deletePrice(ctx, input),
});

export const listUsers = operation({
  id: 'ai_spend.users.list',
  summary: 'List attributed users',
  http: 'GET /ai-gateway/users',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: ListAiUsers,
  output: z.array(AiUser),
  list: 'paged',
  run: (ctx, input) => users.listUsers(ctx, input),
});

export const getUser = operation({
  id: 'ai_spend.users.get',
  summary: 'Get an attributed user',
  http: 'GET /ai-gateway/users/{id}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: AiUserRef,
  output: AiUser,
  run: (ctx, input) => users.getUser(ctx, input),
});

export const createUser = operation({
  id: 'ai_spend.users.create',
  summary: 'Create an attributed user',
  http: 'POST /ai-gateway/users',
  kind: 'change',
  needs: ['ai_gateway:create'],
  refuses: ['conflict'],
  input: CreateAiUser,
  output: AiUser,
  success: 201,
  run: (ctx, input) => users.createUser(ctx, input),
});

export const updateUser = operation({
  id: 'ai_spend.users.update',
  summary: 'Update an attributed user',
  http: 'PATCH /ai-gateway/users/{id}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  refuses: ['not_found', 'conflict'],
  input: UpdateAiUser,
  output: AiUser,
  edits: { row: (tx, ctx, { id }) => users.lockedUser(tx, ctx, id), shown_by: getUser },
  run: (ctx, input) => users.updateUser(ctx, input),
});

export const deleteUser = operation({
  id: 'ai_spend.users.delete',
  summary: 'Delete an attributed user',
  http: 'DELETE /ai-gateway/users/{id}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  refuses: ['not_found'],
  input: AiUserRef,
  output: Deleted,
  run: (ctx, input) => users.deleteUser(ctx, input),
});

export const listLimits = operation({
  id: 'ai_spend.limits.list',
  summary: 'List limit policies',
  http: 'GET /ai-gateway/limit-policies',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: ListLimits,
  output: z.array(LimitPolicy),
  list: 'paged',
  run: (ctx, input) => limits.listLimits(ctx, input),
});

export const getLimit = operation({
  id: 'ai_spend.limits.get',
  summary: 'Get a limit policy',
  http: 'GET /ai-gateway/limit-policies/{id}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: LimitRef,
  output: LimitPolicyDetail,
  run: (ctx, input) => limits.getLimit(ctx, input),
});

export const createLimit = operation({
  id: 'ai_spend.limits.create',
  summary: 'Create a limit policy',
  http: 'POST /ai-gateway/limit-policies',
  kind: 'change',
  needs: ['ai_gateway:create'],
  refuses: ['conflict'],
  input: CreateLimit,
  output: LimitPolicy,
  success: 201,
  run: (ctx, input) => limits.createLimit(ctx, input),
});

export const updateLimit = operation({
  id: 'ai_spend.limits.update',
  summary: 'Update a limit policy',
  http: 'PATCH /ai-gateway/limit-policies/{id}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  refuses: ['not_found', 'conflict'],
  input: UpdateLimit,
  output: LimitPolicy,
  edits: { row: (tx, ctx, { id }) => limits.lockedLimit(tx, ctx, id), shown_by: getLimit },
  run: (ctx, input) => limits.updateLimit(ctx, input),
});

export const deleteLimit = operation({
  id: 'ai_spend.limits.delete',
  summary: 'Delete a limit policy',
  http: 'DELETE /ai-gateway/limit-policies/{id}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  refuses: ['not_found'],
  input: LimitRef,
  output: Deleted,
  run: (ctx, input) => limits.deleteLimit(ctx, input),
});
