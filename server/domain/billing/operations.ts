import { operation } from '#server/kernel/operation.ts';
import { Billing, Checkout, CheckoutStarted, Nothing, Pause, PortalOpened, UpdateTaxId } from './schema.ts';
import * as billing from './service.ts';

export const get = operation({
  id: 'billing.get',
  summary: 'Get plan, payment and invoices',
  http: 'GET /admin/billing',
  kind: 'read',
  needs: ['billing:read'],
  refuses: ['not_found'],
  input: Nothing,
  output: Billing,
  run: (ctx) => billing.getBilling(ctx),
});

export const updateTaxId = operation({
  id: 'billing.update_tax_id',
  summary: 'Set the tax ID of the workspace',
  http: 'PUT /admin/billing/tax-id',
  kind: 'change',
  needs: ['billing:update_tax'],
  while_inactive: true,
  refuses: ['not_found', 'mfa_required', 'invalid'],
  input: UpdateTaxId,
  output: Billing,
  run: (ctx, input) => billing.updateTaxId(ctx, input),
});

export const checkout = operation({
  id: 'billing.checkout',
  summary: 'Buy a plan, change it, or return to Free',
  http: 'POST /admin/billing/checkout',
  kind: 'change',
  needs: ['billing:change_plan'],
  while_inactive: true,
  // A first plan may be bought without a factor; a change of one that is paid for takes it.
  step_up: { when_enrolled: 'billing.change' },
  refuses: ['not_found', 'conflict', 'mfa_required', 'dependency_unavailable'],
  input: Checkout,
  output: CheckoutStarted,
  run: (ctx, input) => billing.checkout(ctx, input),
});

export const portal = operation({
  id: 'billing.portal',
  summary: 'Open the customer portal',
  http: 'POST /admin/billing/portal',
  kind: 'change',
  needs: ['billing:change_plan'],
  while_inactive: true,
  refuses: ['not_found', 'conflict', 'dependency_unavailable'],
  input: Nothing,
  output: PortalOpened,
  run: (ctx) => billing.openPortal(ctx),
});

export const cancel = operation({
  id: 'billing.cancel',
  summary: 'Cancel the subscription at the end of its period',
  http: 'POST /admin/billing/cancel',
  kind: 'change',
  needs: ['billing:change_plan'],
  while_inactive: true,
  step_up: 'billing.change',
  refuses: ['not_found', 'conflict', 'dependency_unavailable'],
  input: Nothing,
  output: Billing,
  run: (ctx) => billing.cancel(ctx),
});

export const resume = operation({
  id: 'billing.resume',
  summary: 'Undo a cancellation, or end a pause',
  http: 'POST /admin/billing/resume',
  kind: 'change',
  needs: ['billing:change_plan'],
  while_inactive: true,
  refuses: ['not_found', 'conflict', 'dependency_unavailable'],
  input: Nothing,
  output: Billing,
  run: (ctx) => billing.resume(ctx),
});

export const pause = operation({
  id: 'billing.pause',
  summary: 'Pause the subscription',
  http: 'POST /admin/billing/pause',
  kind: 'change',
  needs: ['billing:change_plan'],
  while_inactive: true,
  step_up: 'billing.change',
  refuses: ['not_found', 'conflict', 'dependency_unavailable'],
  input: Pause,
  output: Billing,
  run: (ctx, input) => billing.pause(ctx, input),
});

export const trial = operation({
  id: 'billing.trial',
  summary: 'Start the trial',
  http: 'POST /admin/billing/trial',
  kind: 'change',
  needs: ['billing:change_plan'],
  while_inactive: true,
  refuses: ['not_found', 'conflict'],
  input: Nothing,
  output: Billing,
  run: (ctx) => billing.startTrial(ctx),
});
