'use client';

import type { ApiField } from '#components/explorer/document.ts';
import { textLink } from '#components/ui/layout.tsx';
import { BUILT_IN, type Command, positionsOf, spelled } from './commands.ts';
import { takes } from './parse-value.ts';

type Props = { commands: readonly Command[]; onType: (line: string) => void };

/** What can be typed, and what it takes, in the words of the API's own description. */
export function HelpView({ commands, onType }: Props) {
  const [only, ...others] = commands;
  if (only && others.length === 0) return <OneCommand command={only} />;
  const families = Map.groupBy(commands, ({ words }) => words[0] ?? '');
  return (
    <div className="flex flex-col gap-3">
      {[...families].map(([family, list]) => (
        <dl key={family} className="grid grid-cols-[minmax(0,1fr)] gap-x-4 sm:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
          {list.map((command) => (
            <div key={command.op.id} className="contents">
              <dt>
                <button
                  type="button"
                  className={`${textLink} min-h-6 text-left font-mono`}
                  onClick={() => onType(`${command.words.join(' ')} `)}
                >
                  {usageOf(command)}
                </button>
              </dt>
              <dd className="text-ink-2 max-sm:pb-1">{command.op.summary}</dd>
            </div>
          ))}
        </dl>
      ))}
      {families.size > 1 && (
        <p className="text-ink-2">
          Besides these: <span className="font-mono">{BUILT_IN.join(', ')}</span>. After a command,{' '}
          <span className="font-mono">--help</span> tells what it takes.
        </p>
      )}
    </div>
  );
}

const usageOf = (command: Command) => [...command.words, ...positionsOf(command).map((name) => `<${spelled(name)}>`)].join(' ');

function OneCommand({ command }: { command: Command }) {
  const { op, flags } = command;
  const sorted = [...flags]
    .filter(([, { place }]) => place !== 'path')
    .sort(([, a], [, b]) => Number(b.field.required) - Number(a.field.required));
  const places = [...flags].filter(([, { place }]) => place === 'path');
  return (
    <div className="flex flex-col gap-2">
      <p>
        {op.summary}. <span className="font-mono text-ink-3">{`${op.method} /v1${op.path}`}</span>
      </p>
      <p className="font-mono">{`${usageOf(command)}${sorted.length > 0 ? ' [--field value …]' : ''}`}</p>
      <dl className="flex flex-col gap-1.5">
        {places.map(([word, { field }]) => (
          <Field key={word} word={`<${word}>`} field={field} />
        ))}
        {sorted.map(([word, { field }]) => (
          <Field key={word} word={`--${word}`} field={field} />
        ))}
        {op.inBody.length > 0 && (
          <Word word="--json" takes="JSON">
            Fields of the body at once, such as {`'{"name": "x"}'`}; flags go along with it.
          </Word>
        )}
        <Word word="--output" takes="table or json">
          Response format.
        </Word>
      </dl>
      {op.scopes.length > 0 && <p className="text-ink-3">A key needs {op.scopes.join(', ')} for it; you need a role that may.</p>}
    </div>
  );
}

function Field({ word, field: { schema, required } }: { word: string; field: ApiField }) {
  return (
    <Word word={word} takes={`${takes(schema)}${required ? ', required' : ''}`}>
      {schema.description}
      {schema.default !== undefined && schema.default !== null && ` Default: ${String(schema.default)}.`}
    </Word>
  );
}

function Word({ word, takes: kind, children }: { word: string; takes: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className="flex flex-wrap gap-x-2">
        <span className="font-mono">{word}</span>
        <span className="text-ink-3">{kind}</span>
      </dt>
      <dd className="max-w-prose pl-4 text-ink-2">{children}</dd>
    </div>
  );
}
