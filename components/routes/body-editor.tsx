'use client';

import { KeyRound } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Textarea } from '#components/ui/input.tsx';
import { suggestedSecretName } from '#server/domain/routes/config/literal-credential.shared.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { findingsIn, replacedAt } from './literal-findings.ts';
import { SecretChips, SecretPicker, useReadable } from './secret-picker.tsx';
import { StoreLiteral } from './store-literal.tsx';

type JsonObject = Record<string, unknown>;
export type BodyEditorProps = {
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  disabled: boolean;
  environment?: string;
  label?: string;
  rows?: number;
  secrets?: boolean;
  /** Starts the name of a secret made here. */
  routeName?: string;
};

/** The others show when these are gone. */
const MOST_FINDINGS = 3;

/** A JSON object as text. What does not parse stays in the field and is not taken over. */
export function BodyEditor({ value, onChange, disabled, environment, label, rows = 4, secrets = true, routeName = '' }: BodyEditorProps) {
  const [text, setText] = useState(() => print(value));
  const [known, setKnown] = useState(value);
  const [problem, setProblem] = useState<string>();
  const [picking, setPicking] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const problemId = useId();
  const { shown, kept } = useReadable(text);
  const findings = disabled || problem || !secrets ? [] : findingsIn(known);
  // Changed from outside: the text follows, unless it already says the same.
  if (JSON.stringify(known) !== JSON.stringify(value)) {
    setKnown(value);
    setText(print(value));
    setProblem(undefined);
  }
  const type = (next: string) => {
    setText(next);
    const parsed = parse(next);
    setProblem(parsed.problem);
    if (!parsed.value) return;
    setKnown(parsed.value);
    onChange(parsed.value);
  };
  return (
    <div className="flex flex-col gap-1.5">
      <Textarea
        ref={area}
        mono
        rows={rows}
        aria-label={label}
        aria-invalid={Boolean(problem) || undefined}
        aria-describedby={problemId}
        value={shown}
        disabled={disabled}
        onChange={(event) => type(kept(event.target.value))}
      />
      <p id={problemId} aria-live="polite" className="text-bad-ink text-xs empty:hidden">
        {problem}
      </p>
      <SecretChips template={text} />
      {findings.slice(0, MOST_FINDINGS).map(({ path, name, text: literal, what }) => (
        <StoreLiteral
          key={path.join('.')}
          place={path.join('.')}
          what={what}
          text={literal}
          suggestedName={suggestedSecretName(routeName, name)}
          environment={environment}
          onStored={(template) => type(print(replacedAt(known, path, template)))}
        />
      ))}
      {!disabled && secrets && (
        <>
          <Button size="sm" icon={<KeyRound />} aria-expanded={picking} className="self-start" onClick={() => setPicking(!picking)}>
            Insert secret
          </Button>
          {picking && (
            <SecretPicker
              environment={environment}
              onPick={(placeholder) => {
                const at = area.current?.selectionStart ?? shown.length;
                type(kept(shown.slice(0, at) + placeholder + shown.slice(at)));
                setPicking(false);
              }}
            />
          )}
        </>
      )}
    </div>
  );
}

const print = (value: JsonObject) => JSON.stringify(value, null, 2);

function parse(text: string): { value?: JsonObject; problem?: string } {
  if (text.trim() === '') return { value: {} };
  try {
    const value = parseExact(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { value: value as JsonObject }
      : { problem: 'Enter a JSON object, such as { "key": "value" }.' };
  } catch (error) {
    return { problem: `Invalid JSON: ${(error as Error).message}` };
  }
}
