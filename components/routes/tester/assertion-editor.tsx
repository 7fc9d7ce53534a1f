'use client';

import { Plus, X } from 'lucide-react';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { type Assertion, MOST_ASSERTIONS } from '#server/domain/routes/examples/assertions.shared.ts';

type Kind = Assertion['kind'];
const kinds: { value: Kind; label: string }[] = [
  { value: 'status', label: 'Status is' },
  { value: 'time', label: 'Responds within (ms)' },
  { value: 'header', label: 'Header contains' },
  { value: 'body', label: 'Body contains' },
  { value: 'json', label: 'JSON value is' },
];
const fresh: Record<Kind, Assertion> = {
  status: { kind: 'status', equals: 200 },
  time: { kind: 'time', at_most_ms: 1000 },
  header: { kind: 'header', name: 'content-type', contains: 'json' },
  body: { kind: 'body', contains: '' },
  json: { kind: 'json', path: '', equals: '' },
};

/** What the answer must hold, one line each. */
export function AssertionEditor({ value, onChange }: { value: readonly Assertion[]; onChange: (value: Assertion[]) => void }) {
  const set = (at: number, assertion: Assertion) => onChange(value.map((one, i) => (i === at ? assertion : one)));
  return (
    <div className="flex flex-col gap-2">
      {value.map((assertion, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
        <div key={at} className="flex flex-wrap items-center gap-2">
          <Select
            label={`Type of assertion ${at + 1}`}
            className="w-36 sm:w-44"
            options={kinds}
            value={assertion.kind}
            onValueChange={(kind) => set(at, fresh[kind])}
          />
          <Parts assertion={assertion} at={at + 1} onChange={(next) => set(at, next)} />
          <IconButton label={`Remove assertion ${at + 1}`} icon={<X />} onClick={() => onChange(value.filter((_, i) => i !== at))} />
        </div>
      ))}
      <Button
        size="sm"
        icon={<Plus />}
        className="self-start"
        disabledReason={value.length >= MOST_ASSERTIONS ? `At most ${MOST_ASSERTIONS} assertions` : undefined}
        onClick={() => onChange([...value, fresh.status])}
      >
        Add assertion
      </Button>
    </div>
  );
}

function Parts({ assertion, at, onChange }: { assertion: Assertion; at: number; onChange: (next: Assertion) => void }) {
  const input = (name: string, text: string, change: (text: string) => Assertion, numeric = false) => (
    <Input
      mono
      aria-label={`${name} of assertion ${at}`}
      placeholder={name}
      inputMode={numeric ? 'numeric' : undefined}
      className="min-w-24 flex-1"
      value={text}
      onChange={(event) => onChange(change(event.target.value))}
    />
  );
  const whole = (text: string) => Number.parseInt(text, 10) || 0;
  switch (assertion.kind) {
    case 'status':
      return input('Status', String(assertion.equals || ''), (text) => ({ ...assertion, equals: whole(text) }), true);
    case 'time':
      return input('Milliseconds', String(assertion.at_most_ms || ''), (text) => ({ ...assertion, at_most_ms: whole(text) }), true);
    case 'header':
      return (
        <>
          {input('Name', assertion.name, (name) => ({ ...assertion, name }))}
          {input('Text', assertion.contains, (contains) => ({ ...assertion, contains }))}
        </>
      );
    case 'body':
      return input('Text', assertion.contains, (contains) => ({ ...assertion, contains }));
    case 'json':
      return (
        <>
          {input('Path, e.g. data.id', assertion.path, (path) => ({ ...assertion, path }))}
          {input('Value', assertion.equals, (equals) => ({ ...assertion, equals }))}
        </>
      );
  }
}
