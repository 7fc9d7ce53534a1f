'use client';

import { Search } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { Scroll } from '#components/ui/scroll.tsx';
import { SCOPE_CATALOGUE, SCOPE_NAMES, type Scope } from '#server/domain/oauth-clients/scopes.shared.ts';

const TONES = { low: 'neutral', medium: 'warn', high: 'bad' } as const;
const RISKS = { low: 'Low risk', medium: 'Medium risk', high: 'High risk' } as const;

type Props = {
  value: readonly string[];
  onChange: (scopes: string[]) => void;
  /** Whether people grant this client access, whether it acts for itself, or both. */
  people: boolean;
  machine: boolean;
  error?: string | undefined;
};

/** Chooses scopes of the catalogue, with what each allows and who may carry it. */
export function ScopePicker({ value, onChange, people, machine, error }: Props) {
  const [query, setQuery] = useState('');
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = SCOPE_NAMES.filter((name) => {
    const { title, sentence } = SCOPE_CATALOGUE[name] as Scope;
    const text = `${name} ${title} ${sentence}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const toggle = (name: string, on: boolean) => onChange(on ? [...value, name].sort() : value.filter((one) => one !== name));
  return (
    <Field
      group
      label="Allowed scopes"
      error={error}
      hint={
        value.length === 0
          ? 'Without a scope, tokens of this client are refused everywhere.'
          : 'The most that a token of this client can do.'
      }
      action={
        <span className="flex items-center gap-2 text-ink-3 text-xs">
          <span aria-live="polite">{value.length} selected</span>
          {value.length > 0 && (
            <Button size="sm" variant="ghost" onClick={() => onChange([])}>
              Clear
            </Button>
          )}
        </span>
      }
    >
      <div className="overflow-hidden rounded-lg border border-line-strong bg-surface">
        <div className="border-line border-b p-2">
          <Input
            icon={<Search />}
            aria-label="Search scopes"
            placeholder="Search scopes, such as routes or read"
            value={query}
            onChange={(event) => setQuery(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
          />
        </div>
        <Scroll className="max-h-80 overflow-y-auto">
          <ul className="flex flex-col">
            {found.map((name) => {
              const scope = SCOPE_CATALOGUE[name] as Scope;
              const checked = value.includes(name);
              const note = noteOn(scope, name, people, machine);
              return (
                <li key={name} className="flex items-start justify-between gap-3 border-line border-b px-3 py-2 last:border-b-0">
                  <Checkbox
                    className="min-w-0"
                    checked={checked}
                    onCheckedChange={(on) => toggle(name, on)}
                    disabled={Boolean(note?.blocks && !checked)}
                    label={
                      <>
                        {scope.title} <span className="font-mono text-ink-3 text-xs">{name}</span>
                      </>
                    }
                    description={
                      <>
                        {scope.sentence}
                        {note && <span className="block text-note-ink">{note.text}</span>}
                      </>
                    }
                  />
                  {scope.risk !== 'low' && <Badge tone={TONES[scope.risk]}>{RISKS[scope.risk]}</Badge>}
                </li>
              );
            })}
          </ul>
          {found.length === 0 && <p className="p-4 text-center text-ink-2">No scope matches “{query}”.</p>}
        </Scroll>
      </div>
    </Field>
  );
}

/** Who can't carry the scope, where that matters for this client; `blocks` when none of its tokens could. */
function noteOn(scope: Scope, name: string, people: boolean, machine: boolean): { text: string; blocks: boolean } | undefined {
  if (name === 'mcp:tools') return { text: 'Only for tokens of one MCP server.', blocks: false };
  if (!people) return undefined;
  const onlyPeople = !machine;
  if (scope.people === 'never')
    return {
      text: onlyPeople ? 'A person can never grant it. Use a client that acts for itself.' : 'Never in a token that a person granted.',
      blocks: onlyPeople,
    };
  if (scope.people === 'machine')
    return { text: onlyPeople ? 'Only for clients that act for themselves.' : 'Only in tokens of the client itself.', blocks: onlyPeople };
  if (scope.people === 'admin') return { text: 'Only Owners and Admins can grant it.', blocks: false };
  return undefined;
}
