'use client';

import { KeyRound, Plus, Trash2 } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { Button, IconButton } from '#components/ui/button.tsx';
import { cn } from '#components/ui/cn.ts';
import { useFocusAfter } from '#components/ui/focus-after.ts';
import { Input } from '#components/ui/input.tsx';
import { Select } from '#components/ui/select.tsx';
import { looksLikeCredential, suggestedSecretName } from '#server/domain/routes/config/literal-credential.shared.ts';
import { SecretChips, SecretPicker, useReadable } from './secret-picker.tsx';
import { StoreLiteral } from './store-literal.tsx';
import { StoreSecret } from './store-secret.tsx';

export type InjectionMap = Record<string, string | null>;
type Line = { key: number; name: string; value: string | null };

export type InjectionEditorProps = {
  value: InjectionMap;
  onChange: (value: InjectionMap) => void;
  /** Headers can also be taken away from the caller's request; query parameters only set. */
  kind: 'header' | 'query';
  environment?: string | undefined;
  /** Starts the name of a secret made here. */
  routeName?: string;
  disabled?: boolean;
  /** Message of the server or the schema, by name. */
  errors?: Readonly<Record<string, string>>;
};

/** Names and templates that are put into each call. A value that looks like a credential is offered a place among the secrets. */
export function InjectionEditor({ value, onChange, kind, environment, routeName = '', disabled, errors = {} }: InjectionEditorProps) {
  const nextKey = useRef(0);
  const fresh = (map: InjectionMap): Line[] =>
    Object.entries(map).map(([name, template]) => ({ key: nextKey.current++, name, value: template }));
  const [lines, setLines] = useState<Line[]>(() => fresh(value));
  // The value was replaced from outside (discarded, reverted, edited as JSON): half-typed lines give way.
  if (JSON.stringify(toMap(lines)) !== JSON.stringify(value)) setLines(fresh(value));

  const change = (next: Line[]) => {
    setLines(next);
    onChange(toMap(next));
  };
  const { box, focusAfter } = useFocusAfter();
  const add = () => {
    const key = nextKey.current++;
    setLines([...lines, { key, name: '', value: '' }]);
    focusAfter(`[data-line="${key.toString()}"] input`);
  };
  const remove = (key: number) => {
    change(lines.filter((line) => line.key !== key));
    focusAfter('[data-add]');
  };
  const edit = (key: number, part: Partial<Line>) => change(lines.map((line) => (line.key === key ? { ...line, ...part } : line)));
  const noun = kind === 'header' ? 'header' : 'parameter';
  return (
    <div ref={box} className="flex flex-col gap-2">
      {lines.map((line) => (
        <LineEditor
          key={line.key}
          line={line}
          kind={kind}
          noun={noun}
          environment={environment}
          routeName={routeName}
          disabled={disabled ?? false}
          error={isNameless(line) ? `Enter a ${noun} name or delete the row.` : (errors[line.name] ?? clash(lines, line, noun))}
          onEdit={(part) => edit(line.key, part)}
          onRemove={() => remove(line.key)}
        />
      ))}
      {lines.length === 0 && <p className="text-ink-3">{kind === 'header' ? 'No injected headers' : 'No injected parameters'}</p>}
      {!disabled && (
        <Button data-add size="sm" icon={<Plus />} className="self-start" onClick={add}>
          Add {noun}
        </Button>
      )}
    </div>
  );
}

type LineEditorProps = {
  line: Line;
  kind: 'header' | 'query';
  noun: string;
  environment: string | undefined;
  routeName: string;
  disabled: boolean;
  error: string | undefined;
  onEdit: (part: Partial<Line>) => void;
  onRemove: () => void;
};

function LineEditor({ line, kind, noun, environment, routeName, disabled, error, onEdit, onRemove }: LineEditorProps) {
  const [aside, setAside] = useState<'pick' | 'move'>();
  const field = useRef<HTMLInputElement>(null);
  const { box, focusAfter } = useFocusAfter();
  const open = (next: 'pick' | 'move' | undefined) => {
    setAside(next);
    focusAfter(next ? '[data-aside] input' : VALUE);
  };
  const errorId = useId();
  const named = line.name || `new ${noun}`;
  const suspicious = line.value === null ? undefined : looksLikeCredential(line.name, line.value);

  const { shown, kept } = useReadable(line.value ?? '');
  const insert = (placeholder: string) => {
    const at = field.current?.selectionStart ?? shown.length;
    onEdit({ value: kept(shown.slice(0, at) + placeholder + shown.slice(at)) });
    open(undefined);
  };
  return (
    <div ref={box} data-line={line.key} className="@container flex flex-col gap-1.5">
      {/* Where there is little room, as in the panel of a new route, the value has a line of its own: it is what people read and paste. */}
      <div className="flex flex-wrap items-start gap-1.5 @2xl:flex-nowrap">
        <Input
          mono
          aria-label={`Name of ${named}`}
          aria-invalid={Boolean(error) || undefined}
          aria-describedby={error ? errorId : undefined}
          placeholder={kind === 'header' ? 'Authorization' : 'api_key'}
          value={line.name}
          disabled={disabled}
          onChange={(event) => onEdit({ name: event.target.value })}
          className="min-w-28 flex-1 @2xl:w-52 @2xl:flex-none"
        />
        {kind === 'header' && (
          <Select
            label={`Action for ${named}`}
            options={[
              { value: 'set', label: 'Set' },
              { value: 'remove', label: 'Remove' },
            ]}
            value={line.value === null ? 'remove' : 'set'}
            onValueChange={(what) => onEdit({ value: what === 'remove' ? null : '' })}
            disabled={disabled}
            className="w-26 shrink-0"
          />
        )}
        {line.value === null ? (
          <p className="order-last flex h-8 basis-full items-center text-ink-3 @2xl:order-none @2xl:flex-1 @2xl:basis-auto">
            The caller’s header is removed.
          </p>
        ) : (
          <Input
            ref={field}
            data-value
            mono
            aria-label={`Value of ${named}`}
            placeholder="Bearer {{secret:NAME}}"
            value={shown}
            disabled={disabled}
            onChange={(event) => onEdit({ value: kept(event.target.value) })}
            className="order-last basis-full @2xl:order-none @2xl:flex-1 @2xl:basis-auto"
          />
        )}
        {!disabled && (
          <span className="flex">
            {line.value !== null && (
              <IconButton
                label={`Insert a secret into ${named}`}
                icon={<KeyRound />}
                aria-expanded={aside === 'pick'}
                onClick={() => open(aside === 'pick' ? undefined : 'pick')}
              />
            )}
            <IconButton label={`Delete ${named}`} icon={<Trash2 />} onClick={onRemove} />
          </span>
        )}
      </div>
      <p id={errorId} aria-live="polite" className={cn('text-bad-ink text-xs', !error && 'hidden')}>
        {error}
      </p>
      <SecretChips template={line.value ?? ''} />
      {aside === 'pick' && (
        <div data-aside className="flex items-start gap-1.5">
          <div className="min-w-0 flex-1">
            <SecretPicker environment={environment} onPick={insert} />
          </div>
          <Button icon={<Plus />} onClick={() => open('move')}>
            New secret
          </Button>
        </div>
      )}
      {suspicious && line.value !== null && aside !== 'move' && !disabled && (
        <StoreLiteral
          what={suspicious}
          text={line.value}
          suggestedName={suggestedSecretName(routeName, line.name)}
          environment={environment}
          onStored={(template) => {
            onEdit({ value: template });
            focusAfter(VALUE);
          }}
        />
      )}
      {aside === 'move' && line.value !== null && (
        <div data-aside>
          <StoreSecret
            suggestedName={suggestedSecretName(routeName, line.name)}
            environment={environment}
            onCancel={() => open(undefined)}
            onStored={({ id }) => {
              // Nothing typed yet: most APIs want a token of their Authorization header introduced.
              const scheme = line.value === '' && line.name.toLowerCase() === 'authorization' ? 'Bearer ' : '';
              insert(`${scheme}{{secret_id:${id}}}`);
            }}
          />
        </div>
      )}
    </div>
  );
}

const VALUE = '[data-value]';

const clash = (lines: readonly Line[], line: Line, noun: string): string | undefined =>
  line.name !== '' && lines.some((other) => other !== line && other.name.toLowerCase() === line.name.toLowerCase())
    ? `Another ${noun} has this name. Only the last one is used.`
    : undefined;

/** Something was typed into it, and nothing says where it goes. */
const isNameless = (line: Line): boolean => line.name.trim() === '' && line.value !== '';

/** A line that is empty still counts for nothing; one that only lacks its name goes along, so that it is refused and not lost. */
const toMap = (lines: readonly Line[]): InjectionMap =>
  Object.fromEntries(lines.filter((line) => line.name.trim() !== '' || isNameless(line)).map((line) => [line.name.trim(), line.value]));
