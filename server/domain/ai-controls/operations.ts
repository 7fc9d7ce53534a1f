import { z } from 'zod';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import * as firewall from './firewall.ts';
import { recentHits } from './hits.ts';
import * as packs from './packs.ts';
import * as recognizers from './recognizers.ts';
import * as schema from './schema.ts';
import * as policies from './service.ts';
import { lockedFirewall, lockedPiiPolicy, lockedRecognizer } from './store.ts';
import * as testers from './testers.ts';

const DeletedWithId = Deleted.extend({ id: z.uuid() }).meta({ id: 'DeletedAiControl' });

const listPiiPolicies = operation({
  id: 'ai_controls.pii_policies.list',
  summary: 'List PII policies',
  http: 'GET /ai-gateway/pii-policies',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: schema.ListPiiPolicies,
  output: z.array(schema.PiiPolicy),
  list: 'paged',
  run: (ctx, input) => policies.listPiiPolicies(ctx, input),
});

export const createPiiPolicy = operation({
  id: 'ai_controls.pii_policies.create',
  summary: 'Create a PII policy',
  http: 'POST /ai-gateway/pii-policies',
  kind: 'change',
  needs: ['ai_gateway:create'],
  feature: 'custom_pii',
  refuses: ['conflict'],
  input: schema.CreatePiiPolicy,
  output: schema.PiiPolicy,
  success: 201,
  run: (ctx, input) => policies.createPiiPolicy(ctx, input),
});

export const testPiiPolicy = operation({
  id: 'ai_controls.pii_policies.test',
  summary: 'Test a PII policy',
  http: 'POST /ai-gateway/pii-policies/test',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['dependency_unavailable'],
  input: schema.TestPiiPolicy,
  output: schema.PiiPolicyTest,
  run: (ctx, input) => testers.testPolicy(ctx, input),
});

export const getPiiPolicy = operation({
  id: 'ai_controls.pii_policies.get',
  summary: 'Get a PII policy',
  http: 'GET /ai-gateway/pii-policies/{id}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: schema.AiControlRef,
  output: schema.PiiPolicyDetail,
  run: (ctx, input) => policies.getPiiPolicy(ctx, input),
});

export const updatePiiPolicy = operation({
  id: 'ai_controls.pii_policies.update',
  summary: 'Update a PII policy',
  http: 'PATCH /ai-gateway/pii-policies/{id}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  feature: 'custom_pii',
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'mfa_required', 'step_up_required'],
  input: schema.UpdatePiiPolicy,
  output: schema.PiiPolicy,
  edits: { row: (tx, ctx, { id }) => lockedPiiPolicy(tx, ctx, id), shown_by: getPiiPolicy },
  run: (ctx, input) => policies.updatePiiPolicy(ctx, input),
});

export const deletePiiPolicy = operation({
  id: 'ai_controls.pii_policies.delete',
  summary: 'Delete a PII policy',
  http: 'DELETE /ai-gateway/pii-policies/{id}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  refuses: ['not_found', 'in_use'],
  input: schema.AiControlRef,
  output: DeletedWithId,
  run: (ctx, input) => policies.deletePiiPolicy(ctx, input),
});

const listRecognizers = operation({
  id: 'ai_controls.pii_recognizers.list',
  summary: 'List PII recognizers',
  http: 'GET /ai-gateway/pii-recognizers',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: schema.ListPiiRecognizers,
  output: z.array(schema.PiiRecognizer),
  list: 'paged',
  run: (ctx, input) => recognizers.listRecognizers(ctx, input),
});

export const createRecognizer = operation({
  id: 'ai_controls.pii_recognizers.create',
  summary: 'Create a PII recognizer',
  http: 'POST /ai-gateway/pii-recognizers',
  kind: 'change',
  needs: ['ai_gateway:create'],
  feature: 'custom_pii',
  refuses: ['conflict', 'dependency_unavailable'],
  input: schema.CreatePiiRecognizer,
  output: schema.PiiRecognizer,
  success: 201,
  run: (ctx, input) => recognizers.createRecognizer(ctx, input),
});

export const testRecognizer = operation({
  id: 'ai_controls.pii_recognizers.test',
  summary: 'Test a PII recognizer',
  http: 'POST /ai-gateway/pii-recognizers/test',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['dependency_unavailable'],
  input: schema.TestPiiRecognizer,
  output: schema.PiiRecognizerTest,
  run: (ctx, input) => testers.testRecognizer(ctx, input),
});

const listBuiltIns = operation({
  id: 'ai_controls.pii_recognizers.built_in',
  summary: 'List built-in PII recognizers',
  http: 'GET /ai-gateway/pii-recognizers/built-in',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.BuiltInRecognizer),
  list: 'whole',
  run: async () => wholeList(testers.builtInRecognizers()),
});

export const getRecognizer = operation({
  id: 'ai_controls.pii_recognizers.get',
  summary: 'Get a PII recognizer',
  http: 'GET /ai-gateway/pii-recognizers/{id}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: schema.AiControlRef,
  output: schema.PiiRecognizer,
  run: (ctx, input) => recognizers.getRecognizer(ctx, input),
});

export const updateRecognizer = operation({
  id: 'ai_controls.pii_recognizers.update',
  summary: 'Update a PII recognizer',
  http: 'PATCH /ai-gateway/pii-recognizers/{id}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  feature: 'custom_pii',
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'conflict', 'mfa_required', 'step_up_required', 'dependency_unavailable'],
  input: schema.UpdatePiiRecognizer,
  output: schema.PiiRecognizer,
  edits: { row: (tx, ctx, { id }) => lockedRecognizer(tx, ctx, id), shown_by: getRecognizer },
  run: (ctx, input) => recognizers.updateRecognizer(ctx, input),
});

export const deleteRecognizer = operation({
  id: 'ai_controls.pii_recognizers.delete',
  summary: 'Delete a PII recognizer',
  http: 'DELETE /ai-gateway/pii-recognizers/{id}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  refuses: ['not_found', 'in_use'],
  input: schema.AiControlRef,
  output: DeletedWithId,
  run: (ctx, input) => recognizers.deleteRecognizer(ctx, input),
});

const listFirewalls = operation({
  id: 'ai_controls.firewall_policies.list',
  summary: 'List firewall policies',
  http: 'GET /ai-gateway/firewall-policies',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: schema.ListFirewallPolicies,
  output: z.array(schema.FirewallPolicy),
  list: 'paged',
  run: (ctx, input) => firewall.listFirewalls(ctx, input),
});

export const createFirewallPolicy = operation({
  id: 'ai_controls.firewall_policies.create',
  summary: 'Create a firewall policy',
  http: 'POST /ai-gateway/firewall-policies',
  kind: 'change',
  needs: ['ai_gateway:create'],
  feature: 'custom_firewall',
  refuses: ['conflict', 'dependency_unavailable'],
  input: schema.CreateFirewallPolicy,
  output: schema.FirewallPolicy,
  success: 201,
  run: (ctx, input) => firewall.createFirewall(ctx, input),
});

export const testFirewall = operation({
  id: 'ai_controls.firewall_policies.test',
  summary: 'Test firewall rules',
  http: 'POST /ai-gateway/firewall-policies/test',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['dependency_unavailable'],
  input: schema.TestFirewall,
  output: schema.FirewallTest,
  run: (ctx, input) => testers.testFirewall(ctx, input),
});

export const getFirewallPolicy = operation({
  id: 'ai_controls.firewall_policies.get',
  summary: 'Get a firewall policy',
  http: 'GET /ai-gateway/firewall-policies/{id}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: schema.AiControlRef,
  output: schema.FirewallPolicyDetail,
  run: (ctx, input) => firewall.getFirewall(ctx, input),
});

export const updateFirewallPolicy = operation({
  id: 'ai_controls.firewall_policies.update',
  summary: 'Update a firewall policy',
  http: 'PATCH /ai-gateway/firewall-policies/{id}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  feature: 'custom_firewall',
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'mfa_required', 'step_up_required', 'dependency_unavailable'],
  input: schema.UpdateFirewallPolicy,
  output: schema.FirewallPolicy,
  edits: { row: (tx, ctx, { id }) => lockedFirewall(tx, ctx, id), shown_by: getFirewallPolicy },
  run: (ctx, input) => firewall.updateFirewall(ctx, input),
});

export const deleteFirewallPolicy = operation({
  id: 'ai_controls.firewall_policies.delete',
  summary: 'Delete a firewall policy',
  http: 'DELETE /ai-gateway/firewall-policies/{id}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  refuses: ['not_found', 'in_use'],
  input: schema.AiControlRef,
  output: DeletedWithId,
  run: (ctx, input) => firewall.deleteFirewall(ctx, input),
});

const listPacks = operation({
  id: 'ai_controls.compliance_packs.list',
  summary: 'List compliance packs',
  http: 'GET /ai-gateway/compliance-packs',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.CompliancePack),
  list: 'whole',
  run: async (ctx) => wholeList(await packs.listPacks(ctx)),
});

export const installPack = operation({
  id: 'ai_controls.compliance_packs.install',
  summary: 'Install a compliance pack',
  http: 'POST /ai-gateway/compliance-packs/{pack}/install',
  kind: 'change',
  needs: ['ai_gateway:update'],
  feature: 'compliance_packs',
  refuses: ['not_found', 'conflict', 'dependency_unavailable'],
  input: schema.InstallCompliancePack,
  output: schema.InstalledCompliancePack,
  run: (ctx, input) => packs.installPack(ctx, input),
});

const listRules = operation({
  id: 'ai_controls.firewall_rules',
  summary: 'List built-in firewall rules',
  http: 'GET /admin/ai-gateway/firewall-rules',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.BuiltInRule),
  list: 'whole',
  run: async () => wholeList(testers.builtInRules()),
});

const listHits = operation({
  id: 'ai_controls.firewall_hits',
  summary: 'List recent calls that matched a firewall rule',
  http: 'GET /admin/ai-gateway/firewall-hits',
  kind: 'read',
  needs: ['ai_gateway:read_usage'],
  refuses: [],
  input: z.object({}),
  output: z.array(schema.FirewallHit),
  list: 'whole',
  run: async (ctx) => wholeList(await recentHits(ctx)),
});

export {
  listBuiltIns as builtInRecognizers,
  listFirewalls as firewallPolicies,
  listHits as firewallHits,
  listPacks as compliancePacks,
  listPiiPolicies as piiPolicies,
  listRecognizers as piiRecognizers,
  listRules as firewallRules,
};
