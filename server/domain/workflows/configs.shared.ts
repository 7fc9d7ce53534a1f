import { NAME_WITH_PLACEHOLDER, textsIn } from '#server/domain/templates/texts.shared.ts';
import { looksLikeCredential } from '#server/kernel/literal-credential.ts';
import { isExact } from '#server/kernel/lossless-number.ts';
import { isZone, parseCron } from './cron.shared.ts';
import { configOf, isRecord, NODE_TYPES, type Problem, TRIGGER_TYPES, type WorkflowNode } from './definition.shared.ts';
import { parseCondition, referencesOf } from './expressions/condition.shared.ts';
import { doubleOf } from './expressions/numbers.shared.ts';
import { nodeOf, type Reference, SyntaxProblem, shortened } from './expressions/reference.shared.ts';
import { OPERATORS, UNARY } from './expressions/rules.shared.ts';
import { parseTemplate } from './expressions/template.shared.ts';
import { routesOf, type Structure } from './structure.shared.ts';

// What each type of node must be configured with to be live (interface rule 62 §3.1).

type Around = { sandbox: boolean; routes?: ReadonlySet<string>; environments?: ReadonlySet<string>; sms?: boolean };
type Config = Record<string, unknown>;
/** Says what is wrong, as a sentence part that begins with a member's name. @returns false when nothing more is heard */
type Say = (message: string) => boolean;
/** Of one definition. Nobody reads more, and each takes time and room. */
export const MOST_PROBLEMS = 100;
type Check = (config: Config, say: Say, around: Around & { node: WorkflowNode; structure: Structure }) => void;

export function configProblems(node: WorkflowNode, structure: Structure, around: Around): Problem[] {
  const problems: Problem[] = [];
  const say: Say = (message) => problems.length < MOST_PROBLEMS && problems.push({ node_id: node.id, severity: 'error', message }) > 0;
  const check = (NODE_TYPES as readonly string[]).includes(node.type) ? CHECKS[node.type as keyof typeof CHECKS] : undefined;
  if (!check) {
    say(`has an unknown type "${node.type.slice(0, 40)}"`);
    return problems;
  }
  const config = configOf(node);
  check(config, say, { ...around, node, structure });
  if (problems.length < MOST_PROBLEMS) checkTemplates(node, config, structure, say);
  for (const { path: at, text, place } of textsIn(config)) {
    if (problems.length >= MOST_PROBLEMS) break;
    const what = node.type === 'code' || place === 'name' ? undefined : looksLikeCredential(at.slice(at.lastIndexOf('.') + 1), text);
    if (what)
      problems.push({ node_id: node.id, severity: 'warning', message: `${at} looks like ${what}: keep it as a secret and name it` });
  }
  return problems;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const RETRY_ON = ['timeout', 'network', '5xx', '429'];

const oneOf = (config: Config, name: string, values: readonly string[], say: Say, required = false): void => {
  const value = config[name];
  if (value === undefined || value === null || value === '') {
    if (required) say(`${name} is required`);
  } else if (!values.includes(value as string)) say(`${name} must be one of ${values.join(', ')}`);
};
const text = (config: Config, name: string, say: Say, required = false, most = 10_000): void => {
  const value = config[name];
  if (value === undefined || value === null || value === '') {
    if (required) say(`${name} is required`);
  } else if (typeof value !== 'string') say(`${name} must be a text`);
  else if (value.length > most) say(`${name} must have at most ${most} characters`);
};
const whole = (config: Config, name: string, least: number, most: number, say: Say, required = false): void => {
  const value = doubleOf(config[name]);
  if (config[name] === undefined || config[name] === null) {
    if (required) say(`${name} is required`);
  } else if (value === undefined || !Number.isInteger(value) || value < least || value > most)
    say(`${name} must be a whole number from ${least} to ${most}`);
};
const flag = (config: Config, name: string, say: Say): void => {
  if (config[name] !== undefined && typeof config[name] !== 'boolean') say(`${name} must be true or false`);
};
const pairs = (config: Config, name: string, say: Say): void => {
  const value = config[name];
  if (value === undefined || value === null) return;
  if (!isRecord(value) || Object.values(value).some((one) => typeof one === 'object' && one !== null && !isExact(one)))
    say(`${name} must be an object of texts`);
};

function retry({ retry: given }: Config, say: Say) {
  if (given === undefined || given === null) return;
  if (!isRecord(given)) return say('retry must be an object');
  whole(given, 'attempts', 0, 5, (m) => say(`retry.${m}`));
  whole(given, 'delayMs', 500, 60_000, (m) => say(`retry.${m}`));
  const { on } = given;
  const factor = doubleOf(given.factor);
  if (given.factor !== undefined && (factor === undefined || factor < 1 || factor > 4)) say('retry.factor must be a number from 1 to 4');
  if (on !== undefined && (!Array.isArray(on) || on.some((one) => !RETRY_ON.includes(one))))
    say(`retry.on can list ${RETRY_ON.join(', ')}`);
}

function environment(config: Config, say: Say, { environments }: Around) {
  text(config, 'environment', say);
  const name = config.environment;
  if (environments && typeof name === 'string' && name !== '' && !name.includes('{{') && !environments.has(name))
    say(`environment "${name}" doesn't exist`);
}

/** https with a literal host, or one that a reference brings. */
function url(config: Config, say: Say, { sandbox }: Around) {
  text(config, 'url', say, true, 8_192);
  const value = config.url;
  if (typeof value !== 'string' || value === '' || /^\s*\{\{/.test(value)) return;
  const scheme = /^https?:\/\//i.exec(value)?.[0].toLowerCase();
  if (!scheme || (scheme === 'http://' && !sandbox)) return say(`url must begin with https://${sandbox ? ' or http://' : ''}`);
  const host = /^[^/?#]*/.exec(value.slice(scheme.length))?.[0] ?? '';
  if (host === '' || (!host.includes('{{') && !/^(?:\[[0-9a-f:.]+\]|[A-Za-z0-9.-]+)(?::\d{1,5})?$/i.test(host)))
    say('url must have a host');
}

function auth({ auth: given }: Config, say: Say) {
  if (given === undefined || given === null) return;
  if (!isRecord(given)) return say('auth must be an object');
  oneOf(given, 'type', ['none', 'basic', 'bearer', 'header'], (m) => say(`auth.${m}`), true);
  const needs: Record<string, string[]> = { basic: ['username', 'password'], bearer: ['token'], header: ['name', 'value'] };
  for (const name of needs[String(given.type)] ?? []) text(given, name, (m) => say(`auth.${m}`), true);
}

const request: Check = (config, say) => {
  oneOf(config, 'method', METHODS, say, true);
  pairs(config, 'headers', say);
  pairs(config, 'query', say);
  whole(config, 'timeoutMs', 1_000, 60_000, say);
  flag(config, 'failOnStatus', say);
  retry(config, say);
};

function rules(config: Config, say: Say, structure: Structure, at = '') {
  const { mode, rules: given, expression: written } = config;
  const uses = mode === 'expression' || (mode === undefined && typeof written === 'string') ? 'expression' : 'rules';
  if (uses === 'expression') {
    if (typeof written !== 'string' || written.trim() === '') return say(`${at}expression is required`);
    try {
      for (const reference of referencesOf(parseCondition(written))) assertKnown(reference, structure, `${at}expression`, say);
    } catch (error) {
      say(`${at}expression can't be read: ${messageOf(error)}${written.includes('{{') ? '. Write it without {{ }}' : ''}`);
    }
    return;
  }
  const group = isRecord(given) ? given : Array.isArray(given) ? { rules: given } : null;
  if (!group) return say(`${at}rules is required`);
  oneOf(group, 'combinator', ['and', 'or'], (m) => say(`${at}rules.${m}`));
  const list = group.rules;
  if (!Array.isArray(list) || list.length === 0 || list.length > 50) return say(`${at}rules.rules must list 1 to 50 rules`);
  for (const [i, rule] of list.entries()) {
    const place = `${at}rules.rules[${i}]`;
    if (!isRecord(rule)) say(`${place} must be an object`);
    else if (!OPERATORS.some((one) => one === rule.operator)) say(`${place}.operator must be one of ${OPERATORS.join(', ')}`);
    else if (rule.left === undefined || rule.left === '') say(`${place}.left is required`);
    else if (!UNARY.has(String(rule.operator)) && rule.right === undefined) say(`${place}.right is required`);
  }
}

const TIMES = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
const LONGEST_DELAY = 30 * 86_400;
/** Seconds of a delay's amount and unit; null when they can't be read. */
export function delaySeconds({ amount, unit = 'seconds' }: Config): number | null {
  const number = doubleOf(amount);
  if (number === undefined || !Object.hasOwn(TIMES, String(unit))) return null;
  return number * TIMES[unit as keyof typeof TIMES];
}

const CHECKS: Record<(typeof NODE_TYPES)[number], Check> = {
  trigger: (config, say, around) => {
    oneOf(config, 'triggerType', TRIGGER_TYPES, say, true);
    const check = TRIGGERS[config.triggerType as keyof typeof TRIGGERS];
    check?.(config, say, around);
  },
  http_request: (config, say, around) => {
    request(config, say, around);
    url(config, say, around);
    oneOf(config, 'bodyType', ['json', 'form', 'text', 'none'], say);
    flag(config, 'followRedirects', say);
    auth(config, say);
  },
  route_request: (config, say, around) => {
    text(config, 'route', say, true, 200);
    const { route, path } = config;
    if (around.routes && typeof route === 'string' && route !== '' && !around.routes.has(route))
      say(`route "${route.slice(0, 80)}" doesn't exist`);
    request(config, say, around);
    text(config, 'path', say, true, 8_192);
    if (typeof path === 'string' && path !== '' && !path.startsWith('/') && !path.startsWith('{{')) say('path must begin with /');
    environment(config, say, around);
  },
  email: (config, say) => {
    const { to } = config;
    const list = Array.isArray(to) ? to : typeof to === 'string' && to !== '' ? [to] : [];
    if (list.length === 0) say('to is required');
    else if (list.length > 10 || list.some((one) => typeof one !== 'string')) say('to can list up to 10 addresses');
    text(config, 'subject', say, true, 500);
    if (!config.text && !config.html) say('text or html is required');
    text(config, 'text', say, false, 100_000);
    text(config, 'html', say, false, 100_000);
    text(config, 'replyTo', say);
  },
  sms: (config, say, { sms }) => {
    text(config, 'to', say, true, 100);
    text(config, 'text', say, true, 1_000);
    if (sms === false) say('this installation has no SMS provider: its operator sets SMS_PROVIDER_URL');
  },
  code: ({ code }, say) => {
    if (code !== undefined && code !== null && (typeof code !== 'string' || code.trim() !== '')) say('code blocks cannot run yet');
  },
  transform: ({ fields, template }, say) => {
    if (fields === undefined && template === undefined) say('fields or template is required');
    else if (fields !== undefined && !isRecord(fields)) say('fields must be an object');
  },
  condition: (config, say, { structure }) => {
    oneOf(config, 'mode', ['rules', 'expression'], say);
    rules(config, say, structure);
  },
  router: (config, say, { node, structure }) => {
    oneOf(config, 'match', ['first', 'all'], say);
    const routes = routesOf(node);
    if (!Array.isArray(config.routes) || config.routes.length === 0) return say('routes is required');
    if (config.routes.length > 20) return say('routes can list up to 20 routes');
    if (routes.length < config.routes.length) say('routes must each have an id');
    if (new Set(routes.map(({ id }) => id)).size < routes.length || routes.some(({ id }) => id === 'default'))
      say('routes must have ids of their own, and default is taken');
    for (const [i, route] of routes.entries()) rules(route, say, structure, `routes[${i}].`);
  },
  loop: (config, say, { node, structure }) => {
    const { items } = config;
    if (!Array.isArray(items)) text(config, 'items', say, true);
    whole(config, 'concurrency', 1, 10, say);
    whole(config, 'maxIterations', 1, 1_000, say);
    oneOf(config, 'onItemError', ['stop', 'continue'], say);
    if (!(structure.from.get(node.id) ?? []).some(({ handle }) => handle === 'body')) say('needs a body: an edge from its handle body');
  },
  delay: (config, say) => {
    if (config.until !== undefined && config.until !== null && config.until !== '') return text(config, 'until', say);
    if (config.amount === undefined) return say('amount is required');
    const seconds = delaySeconds(config);
    if (seconds === null) say('amount must be a number, and unit one of seconds, minutes, hours, days');
    else if (seconds < 1 || seconds > LONGEST_DELAY) say('amount must be a time from 1 second to 30 days');
  },
  error_handler: (config, say, { structure }) => {
    oneOf(config, 'scope', ['node', 'workflow'], say);
    if (config.scope !== 'node') return;
    const { catch: caught } = config;
    if (!Array.isArray(caught) || caught.length === 0) return say('catch is required with scope node');
    for (const id of caught)
      if (typeof id !== 'string' || !structure.nodes.has(id)) say(`catch names "${String(id).slice(0, 64)}", which doesn't exist`);
    if (new Set(caught.map((id) => structure.loops.get(id)?.join())).size > 1) say('catch must list nodes of the same loop');
  },
  set_response: (config, say, { structure }) => {
    whole(config, 'status', 200, 599, say);
    pairs(config, 'headers', say);
    const trigger = [...structure.nodes.values()].find(({ type }) => type === 'trigger');
    const { triggerType, mode } = trigger ? configOf(trigger) : {};
    if (triggerType !== 'webhook' || mode !== 'sync') say('needs a webhook trigger that waits for it (mode sync)');
  },
};

const EVENTS = ['received', 'success', 'redirect', 'client_error', 'server_error', 'timeout', 'error', 'completed'];
export const EVENT_TYPES = EVENTS.map((name) => `request.${name}`);
export const EVENT_FIELDS = ['status', 'method', 'path', 'latency_ms', 'environment', 'route_name', 'origin'];
const MOST_CONDITIONS = 50;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const TRIGGERS: Record<(typeof TRIGGER_TYPES)[number], Check> = {
  manual: ({ inputSchema }, say) => {
    if (inputSchema !== undefined && inputSchema !== null && !isRecord(inputSchema)) say('inputSchema must be a JSON Schema');
  },
  webhook: (config, say) => {
    oneOf(config, 'method', ['POST', 'GET', 'PUT', 'PATCH', 'any'], say);
    oneOf(config, 'mode', ['async', 'sync'], say);
    const given = config.auth;
    if (given === undefined || given === null || given === 'none') return;
    if (!isRecord(given)) return say('auth must be an object with a type');
    oneOf(given, 'type', ['none', 'header', 'hmac'], (m) => say(`auth.${m}`), true);
    if (given.type === 'header') text(given, 'name', (m) => say(`auth.${m}`), true, 128);
    if (given.type === 'header' || given.type === 'hmac') {
      text(given, 'secret', (m) => say(`auth.${m}`), true);
      if (typeof given.secret === 'string' && given.secret !== '' && !/^\{\{\s*secret(?:_id)?:[A-Za-z0-9_.-]+\s*\}\}$/.test(given.secret))
        say('auth.secret must name a secret: {{secret:NAME}}');
    }
  },
  schedule: (config, say) => {
    const { cron, every, timezone } = config;
    if (typeof timezone === 'string' && timezone !== '' && !isZone(timezone)) say('timezone must be a zone such as Europe/Berlin');
    oneOf(config, 'overlap', ['skip', 'queue'], say);
    if (every !== undefined && every !== null) {
      if (cron !== undefined && cron !== null && cron !== '') return say('cron and every exclude each other');
      if (!isRecord(every)) return say('every must be an object with minutes');
      return whole(every, 'minutes', 1, 44_640, (m) => say(`every.${m}`), true);
    }
    if (typeof cron !== 'string' || cron === '') return say('cron or every is required, beside triggerType in config');
    const read = parseCron(cron);
    if (typeof read === 'string') say(`cron ${read}`);
  },
  proxy_event: ({ proxyEventConfig: given }, say, { environments }) => {
    if (!isRecord(given)) return say('proxyEventConfig is required');
    const { eventTypes, routeFilter = [], environmentFilter = [], conditions = [] } = given;
    if (!Array.isArray(eventTypes) || eventTypes.length === 0) say('proxyEventConfig.eventTypes must list at least one event');
    else
      for (const type of eventTypes)
        if (!EVENT_TYPES.includes(type)) say(`proxyEventConfig.eventTypes can't list "${String(type).slice(0, 40)}"`);
    if (!Array.isArray(routeFilter) || routeFilter.some((id) => !UUID.test(String(id))))
      say('proxyEventConfig.routeFilter must list IDs of routes');
    if (!Array.isArray(environmentFilter)) say('proxyEventConfig.environmentFilter must be a list');
    else if (environments)
      for (const name of environmentFilter)
        if (!environments.has(name)) say(`proxyEventConfig.environmentFilter names "${name}", which doesn't exist`);
    if (!Array.isArray(conditions) || conditions.length > MOST_CONDITIONS)
      return say(`proxyEventConfig.conditions must list at most ${MOST_CONDITIONS} conditions`);
    for (const [i, one] of conditions.entries()) {
      if (!isRecord(one) || !EVENT_FIELDS.includes(String(one.field)))
        say(`proxyEventConfig.conditions[${i}].field must be one of ${EVENT_FIELDS.join(', ')}`);
      else if (!OPERATORS.some((operator) => operator === one.operator))
        say(`proxyEventConfig.conditions[${i}].operator must be one of ${OPERATORS.join(', ')}`);
    }
  },
};

/** Members that may name secrets; everything else is stored with the run. */
const SECRET_PLACES = /^(?:headers|query|body|auth)(?:[.[]|$)/;

function assertKnown({ node: name }: Reference, structure: Structure, at: string, say: Say): void {
  if (!structure.nodes.has(nodeOf(name))) say(`${at} refers to "${shortened(name)}", which doesn't exist`);
}

/** Placeholders that can't be read, name no node, or name a secret where none may go. */
function checkTemplates(node: WorkflowNode, config: Config, structure: Structure, say: Say) {
  for (const { path: at, text: written, place } of textsIn(config)) {
    if (place === 'name') {
      if (node.type !== 'code' && written.includes('{{')) say(`${at} ${NAME_WITH_PLACEHOLDER}`);
      continue;
    }
    // Read with its rules.
    if (/(?:^|\.)expression$/.test(at) && (node.type === 'condition' || node.type === 'router')) continue;
    if (node.type === 'code' || !written.includes('{{')) continue;
    try {
      for (const part of parseTemplate(written)) {
        if (part.kind === 'reference') assertKnown(part.reference, structure, at, say);
        const may = (node.type === 'http_request' && SECRET_PLACES.test(at)) || (node.type === 'trigger' && at === 'auth.secret');
        if (part.kind === 'secret' && !may) say(`${at} can't name a secret: only headers, query, body and auth of HTTP requests can`);
      }
    } catch (error) {
      if (!say(`${at} can't be read: ${messageOf(error)}`)) return;
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof SyntaxProblem ? error.message : 'it is malformed');
