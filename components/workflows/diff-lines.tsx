import type { DefinitionDiff } from './definition-diff.ts';
import { isEmpty } from './definition-diff.ts';

const SIGNS = { added: '+', removed: '−', changed: '~' } as const;

/** What differs between two versions, in words: the twin of the painted canvas. */
export function DiffLines({ diff }: { diff: DefinitionDiff }) {
  if (isEmpty(diff)) return <p className="text-ink-3">Nothing differs but where steps stand.</p>;
  return (
    <ul className="flex max-h-72 flex-col gap-1 overflow-y-auto text-xs">
      {diff.steps.map(({ id, name, change, fields }) => (
        <li key={id}>
          <span className="font-mono">{SIGNS[change]}</span> Step <b className="font-medium">{name}</b> {change}
          {fields.map(({ path, before, after }) => (
            <span key={path} className="block pl-4 font-mono text-2xs text-ink-2 [overflow-wrap:anywhere]">
              {path}: {shown(before)} → {shown(after)}
            </span>
          ))}
        </li>
      ))}
      {diff.edges.map(({ text, change }) => (
        <li key={`${change}${text}`}>
          <span className="font-mono">{SIGNS[change]}</span> Edge <span className="font-mono text-2xs">{text}</span> {change}
        </li>
      ))}
    </ul>
  );
}

function shown(value: unknown): string {
  const text = value === undefined ? 'none' : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
