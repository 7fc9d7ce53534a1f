import {
  CircleStop,
  Clock,
  Code,
  GitBranch,
  Globe,
  type LucideIcon,
  Mail,
  MessageSquare,
  Repeat,
  Reply,
  Route,
  ShieldAlert,
  Shuffle,
  Split,
  Zap,
} from 'lucide-react';

/** Kinds of steps, in the order of the palette (spec 62 §3.1). */
export const STEP_KINDS = [
  'trigger',
  'route_request',
  'http_request',
  'email',
  'sms',
  'transform',
  'condition',
  'router',
  'loop',
  'delay',
  'error_handler',
  'set_response',
  'code',
] as const;
export type StepKind = (typeof STEP_KINDS)[number];

export const KINDS: Record<StepKind, { label: string; about: string; icon: LucideIcon; words: string }> = {
  trigger: { label: 'Trigger', about: 'What starts the workflow', icon: Zap, words: 'start' },
  route_request: {
    label: 'Call a route',
    about: 'A request through one of your routes, which adds its secrets',
    icon: Route,
    words: 'proxy api request upstream',
  },
  http_request: {
    label: 'HTTP request',
    about: 'A request to any HTTPS address',
    icon: Globe,
    words: 'fetch call api post get webhook url',
  },
  email: { label: 'Email', about: 'A message to up to ten addresses', icon: Mail, words: 'mail send notify' },
  sms: { label: 'SMS', about: 'A text message to a phone', icon: MessageSquare, words: 'text phone send notify' },
  transform: { label: 'Transform', about: 'Builds a value out of earlier ones', icon: Shuffle, words: 'map set fields json edit' },
  condition: { label: 'Condition', about: 'Goes on by true or false', icon: GitBranch, words: 'if else branch rules' },
  router: { label: 'Router', about: 'Goes on by the first route that fits, or by all', icon: Split, words: 'switch case branch many' },
  loop: { label: 'Loop', about: 'Runs its body for each item of a list', icon: Repeat, words: 'each for iterate array list' },
  delay: { label: 'Delay', about: 'Waits for a time, up to 30 days', icon: Clock, words: 'wait sleep pause until' },
  error_handler: { label: 'Error handler', about: 'Runs when steps fail', icon: ShieldAlert, words: 'catch failure rescue' },
  set_response: { label: 'Response', about: 'What the caller of a webhook gets', icon: Reply, words: 'return answer reply webhook sync' },
  code: { label: 'Code', about: 'Can’t run yet: only an empty block passes', icon: Code, words: 'javascript script function' },
};

/** The kind of a step, also of one whose type this release doesn't know. */
export const kindOf = (type: string) =>
  (KINDS as Record<string, (typeof KINDS)[StepKind] | undefined>)[type] ?? {
    label: type,
    about: 'Unknown kind of step',
    icon: CircleStop,
    words: '',
  };

/** What a new step is set to. */
export const DEFAULT_CONFIG: Record<StepKind, Record<string, unknown>> = {
  trigger: { triggerType: 'manual' },
  route_request: { method: 'GET', route: '', path: '/' },
  http_request: { method: 'POST', url: '', bodyType: 'json', body: {} },
  email: { to: '', subject: '', text: '' },
  sms: { to: '', text: '' },
  transform: { fields: {} },
  condition: { mode: 'rules', rules: { combinator: 'and', rules: [{ left: '', operator: 'equals', right: '' }] } },
  router: {
    match: 'first',
    routes: [{ id: 'route_1', label: 'Route 1', rules: { combinator: 'and', rules: [{ left: '', operator: 'equals', right: '' }] } }],
  },
  loop: { items: '', concurrency: 1, onItemError: 'stop' },
  delay: { amount: 5, unit: 'minutes' },
  error_handler: { scope: 'workflow' },
  set_response: { status: 200, body: {} },
  code: { code: '' },
};

/** How the names of new steps begin. */
export const ID_STEM: Record<StepKind, string> = {
  trigger: 'trigger',
  route_request: 'call',
  http_request: 'http',
  email: 'email',
  sms: 'sms',
  transform: 'transform',
  condition: 'condition',
  router: 'router',
  loop: 'loop',
  delay: 'delay',
  error_handler: 'on_error',
  set_response: 'response',
  code: 'code',
};

export type Outlet = { id: string; label: string; tone?: 'good' | 'bad' };

const OUT: Outlet = { id: 'out', label: 'Next' };
const ERROR: Outlet = { id: 'error', label: 'On error', tone: 'bad' };

/** Where edges can leave a step. */
export function outletsOf(step: { type: string; data?: { config?: Record<string, unknown> | undefined } | undefined }): readonly Outlet[] {
  switch (step.type) {
    case 'condition':
      return [
        { id: 'true', label: 'True', tone: 'good' },
        { id: 'false', label: 'False' },
      ];
    case 'router': {
      const routes = step.data?.config?.routes;
      const named = Array.isArray(routes) ? (routes as { id?: string; label?: string }[]) : [];
      return [...named.flatMap(({ id, label }) => (id ? [{ id, label: label || id }] : [])), { id: 'default', label: 'Otherwise' }];
    }
    case 'loop':
      return [{ id: 'body', label: 'Each item' }, { id: 'done', label: 'Done', tone: 'good' }, ERROR];
    case 'http_request':
    case 'route_request':
    case 'email':
    case 'sms':
    case 'transform':
      return [OUT, ERROR];
    default:
      return [OUT];
  }
}

/** Whether edges can lead to a step. */
export const hasInlet = (type: string): boolean => type !== 'trigger' && type !== 'error_handler';
