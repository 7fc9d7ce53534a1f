import { counted } from '#components/ui/numbers.ts';
import { configOf, type Step } from './document.ts';
import { kindOf } from './step-kinds.ts';
import { triggerText } from './trigger-text.ts';

/** What a step does as it is set, in a line. */
export function summaryOf(step: Step): string {
  const config = configOf(step);
  const text = (key: string) => (typeof config[key] === 'string' ? config[key] : '');
  switch (step.type) {
    case 'trigger':
      return triggerText(config);
    case 'http_request':
      return text('url') ? `${text('method')} ${text('url').replace(/^https?:\/\//, '')}` : 'No URL yet';
    case 'route_request':
      return text('route') ? `${text('method')} ${text('route')}${text('path')}` : 'No route yet';
    case 'email':
    case 'sms':
      return config.to && config.to !== '' ? `To ${Array.isArray(config.to) ? config.to.join(', ') : text('to')}` : 'No recipient yet';
    case 'transform':
      return counted(Object.keys((config.fields as object) ?? config.template ?? {}).length, 'field');
    case 'condition':
      return config.mode === 'expression' ? text('expression') || 'No expression yet' : rulesText(config.rules);
    case 'router':
      return `${counted(Array.isArray(config.routes) ? config.routes.length : 0, 'route')}, ${config.match === 'all' ? 'all that fit' : 'the first that fits'}`;
    case 'loop':
      return text('items') ? `Over ${text('items')}` : 'No list yet';
    case 'delay':
      return text('until') ? `Until ${text('until')}` : `${config.amount ?? '?'} ${text('unit')}`;
    case 'error_handler':
      return config.scope === 'node' ? `Of ${Array.isArray(config.catch) ? config.catch.join(', ') : 'no step yet'}` : 'Of any step';
    case 'set_response':
      return `Status ${config.status ?? 200}`;
    default:
      return kindOf(step.type).about;
  }
}

function rulesText(rules: unknown): string {
  const { rules: list = [], combinator = 'and' } = (rules ?? {}) as {
    rules?: { left?: unknown; operator?: string; right?: unknown }[];
    combinator?: string;
  };
  const [first] = list;
  if (!first || first.left === '' || first.left === undefined) return 'No rule yet';
  const more = list.length > 1 ? ` ${combinator} ${list.length - 1} more` : '';
  return `${String(first.left).replace(/[{}]/g, '')} ${(first.operator ?? '').replaceAll('_', ' ')} ${first.right === undefined ? '' : String(first.right)}${more}`;
}
