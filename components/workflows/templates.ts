import { type Document, TRIGGER_ID } from './document.ts';

export type TemplateId = 'server-errors' | 'nightly-sync' | 'rotate-notify' | 'stripe-crm' | 'expiring-secrets' | 'blank';

/** Definitions to begin with: each can be published once the routes and secrets it names are there. */
export type Template = { id: TemplateId; name: string; definition: Document; secrets: readonly string[]; routes: readonly string[] };

const trigger = (config: Record<string, unknown>) => ({
  id: TRIGGER_ID,
  type: 'trigger',
  name: 'Start',
  position: { x: 0, y: 0 },
  data: { config },
});
const below = (row: number, x = 0) => ({ x, y: row * 136 });

const serverErrors: Document = {
  nodes: [
    trigger({ triggerType: 'proxy_event', proxyEventConfig: { eventTypes: ['request.server_error'] } }),
    {
      id: 'is_production',
      type: 'condition',
      name: 'In production?',
      position: below(1),
      data: { config: { mode: 'expression', expression: "trigger.data.environment === 'production'" } },
    },
    {
      id: 'notify',
      type: 'http_request',
      name: 'Post to Slack',
      position: below(2),
      data: {
        config: {
          method: 'POST',
          url: 'https://slack.com/api/chat.postMessage',
          headers: { Authorization: 'Bearer {{secret:SLACK_BOT_TOKEN}}' },
          bodyType: 'json',
          body: { channel: '#alerts', text: '{{trigger.data.route_name}} answered {{trigger.data.response.status}}' },
          retry: { attempts: 2 },
        },
      },
    },
  ],
  edges: [
    { id: 'e1', source: TRIGGER_ID, target: 'is_production', sourceHandle: 'out' },
    { id: 'e2', source: 'is_production', target: 'notify', sourceHandle: 'true' },
  ],
};

const nightlySync: Document = {
  nodes: [
    trigger({ triggerType: 'schedule', cron: '0 2 * * *', timezone: 'UTC', overlap: 'skip' }),
    {
      id: 'list_items',
      type: 'route_request',
      name: 'List what is there',
      position: below(1),
      data: { config: { route: 'source', method: 'GET', path: '/items', retry: { attempts: 3 } } },
    },
    {
      id: 'each',
      type: 'loop',
      name: 'For each item',
      position: below(2),
      data: { config: { items: '{{list_items.body.items}}', concurrency: 3, onItemError: 'continue' } },
    },
    {
      id: 'store',
      type: 'route_request',
      name: 'Store it',
      position: below(3, -160),
      data: { config: { route: 'target', method: 'PUT', path: '/items/{{each.item.id}}', body: '{{each.item}}', retry: { attempts: 2 } } },
    },
    {
      id: 'report',
      type: 'transform',
      name: 'Report',
      position: below(3, 160),
      data: { config: { fields: { stored: '{{each.count}}', failed: '{{each.failed}}' } } },
    },
  ],
  edges: [
    { id: 'e1', source: TRIGGER_ID, target: 'list_items', sourceHandle: 'out' },
    { id: 'e2', source: 'list_items', target: 'each', sourceHandle: 'out' },
    { id: 'e3', source: 'each', target: 'store', sourceHandle: 'body' },
    { id: 'e4', source: 'each', target: 'report', sourceHandle: 'done' },
  ],
};

const rotateNotify: Document = {
  nodes: [
    trigger({ triggerType: 'schedule', cron: '0 6 1 * *', timezone: 'UTC', overlap: 'skip' }),
    {
      id: 'rotate',
      type: 'http_request',
      name: 'Ask the provider for a new key',
      position: below(1),
      data: {
        config: {
          method: 'POST',
          url: 'https://api.example.com/v1/keys/rotate',
          auth: { type: 'bearer', token: '{{secret:PROVIDER_ADMIN_TOKEN}}' },
          bodyType: 'none',
        },
      },
    },
    {
      id: 'tell',
      type: 'email',
      name: 'Tell the owner',
      position: below(2),
      data: {
        config: {
          to: 'owner@example.com',
          subject: 'The key of the provider was rotated',
          text: 'Key {{rotate.body.id}} is in use since {{trigger.data.scheduled_at}}.',
        },
      },
    },
    {
      id: 'on_error',
      type: 'error_handler',
      name: 'When it fails',
      position: below(1, 320),
      data: { config: { scope: 'node', catch: ['rotate'] } },
    },
    {
      id: 'warn',
      type: 'email',
      name: 'Warn the owner',
      position: below(2, 320),
      data: { config: { to: 'owner@example.com', subject: 'The key of the provider could not be rotated', text: '{{on_error.message}}' } },
    },
  ],
  edges: [
    { id: 'e1', source: TRIGGER_ID, target: 'rotate', sourceHandle: 'out' },
    { id: 'e2', source: 'rotate', target: 'tell', sourceHandle: 'out' },
    { id: 'e3', source: 'on_error', target: 'warn', sourceHandle: 'out' },
  ],
};

const stripeCrm: Document = {
  nodes: [
    trigger({
      triggerType: 'webhook',
      method: 'POST',
      mode: 'async',
      auth: { type: 'hmac', format: 'stripe', secret: '{{secret:STRIPE_SIGNING_SECRET}}' },
    }),
    {
      id: 'by_type',
      type: 'router',
      name: 'Which event?',
      position: below(1),
      data: {
        config: {
          match: 'first',
          routes: [
            {
              id: 'paid',
              label: 'Paid',
              rules: { combinator: 'and', rules: [{ left: '{{trigger.data.type}}', operator: 'equals', right: 'invoice.paid' }] },
            },
            {
              id: 'ended',
              label: 'Ended',
              rules: {
                combinator: 'and',
                rules: [{ left: '{{trigger.data.type}}', operator: 'equals', right: 'customer.subscription.deleted' }],
              },
            },
          ],
        },
      },
    },
    {
      id: 'mark_paid',
      type: 'route_request',
      name: 'Mark as paid',
      position: below(2, -288),
      data: {
        config: {
          route: 'crm',
          method: 'POST',
          path: '/customers/{{trigger.data.data.object.customer}}/payments',
          body: { invoice: '{{trigger.data.data.object.id}}' },
        },
      },
    },
    {
      id: 'mark_ended',
      type: 'route_request',
      name: 'Mark as ended',
      position: below(2, 0),
      data: {
        config: { route: 'crm', method: 'PATCH', path: '/customers/{{trigger.data.data.object.customer}}', body: { status: 'ended' } },
      },
    },
  ],
  edges: [
    { id: 'e1', source: TRIGGER_ID, target: 'by_type', sourceHandle: 'out' },
    { id: 'e2', source: 'by_type', target: 'mark_paid', sourceHandle: 'paid' },
    { id: 'e3', source: 'by_type', target: 'mark_ended', sourceHandle: 'ended' },
  ],
};

const expiringSecrets: Document = {
  nodes: [
    trigger({
      triggerType: 'webhook',
      method: 'POST',
      mode: 'async',
      auth: { type: 'hmac', format: 'legacy', secret: '{{secret:SALLYPORT_WEBHOOK_SECRET}}' },
    }),
    {
      id: 'is_due',
      type: 'condition',
      name: 'Expires within a week?',
      position: below(1),
      data: {
        config: {
          mode: 'rules',
          rules: { combinator: 'and', rules: [{ left: '{{trigger.data.data.days_left | default(0)}}', operator: 'lte', right: 7 }] },
        },
      },
    },
    {
      id: 'remind',
      type: 'email',
      name: 'Remind the owner',
      position: below(2),
      data: {
        config: {
          to: 'owner@example.com',
          subject: '{{trigger.data.data.name}} expires soon',
          text: 'Store a new value of {{trigger.data.data.name}} before {{trigger.data.data.expires_at}}.',
        },
      },
    },
  ],
  edges: [
    { id: 'e1', source: TRIGGER_ID, target: 'is_due', sourceHandle: 'out' },
    { id: 'e2', source: 'is_due', target: 'remind', sourceHandle: 'true' },
  ],
};

const blank: Document = { nodes: [trigger({ triggerType: 'manual' })], edges: [] };

export const TEMPLATES: readonly Template[] = [
  { id: 'server-errors', name: 'Slack on 5xx', definition: serverErrors, secrets: ['SLACK_BOT_TOKEN'], routes: [] },
  { id: 'nightly-sync', name: 'Nightly sync', definition: nightlySync, secrets: [], routes: ['source', 'target'] },
  { id: 'rotate-notify', name: 'Rotate, then notify', definition: rotateNotify, secrets: ['PROVIDER_ADMIN_TOKEN'], routes: [] },
  { id: 'stripe-crm', name: 'Stripe to CRM', definition: stripeCrm, secrets: ['STRIPE_SIGNING_SECRET'], routes: ['crm'] },
  { id: 'expiring-secrets', name: 'Expiring secrets', definition: expiringSecrets, secrets: ['SALLYPORT_WEBHOOK_SECRET'], routes: [] },
  { id: 'blank', name: 'New workflow', definition: blank, secrets: [], routes: [] },
];
