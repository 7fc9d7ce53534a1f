'use client';

import { type KeyboardEvent, useRef } from 'react';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import type { Question } from './session.ts';

/** Asks for a secret field of a call, hidden. What is typed here is in no state, no history and, once it is sent, nowhere on the page. */
export function SecretPrompt({ question }: { question: Extract<Question, { kind: 'secret' }> }) {
  const input = useRef<HTMLInputElement>(null);
  const { field, command, dropped, answer } = question;
  const take = (value: string | undefined) => {
    if (input.current) input.current.value = '';
    answer(value);
  };
  const go = () => {
    const value = input.current?.value ?? '';
    if (value !== '' || !field.required) take(value);
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === 'Escape' || (event.ctrlKey && event.key === 'c' && !hasSelection(input.current))) {
      event.preventDefault();
      take(undefined);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      go();
    }
  };
  return (
    <div className="border-line border-t px-3 py-2 lg:px-5">
      <Field
        label={`${command.words.join(' ')}: ${field.name}`}
        hint={`${dropped ? 'The value on the command line was ignored. Enter the secret here. ' : ''}Hidden, sent once and never stored.${field.required ? '' : ' Leave empty to skip.'}`}
      >
        <div className="flex gap-2">
          <div className="min-w-0 flex-1">
            <SecretInput ref={input} autoFocus onKeyDown={key} />
          </div>
          <Button variant="primary" onClick={go}>
            Send
          </Button>
          <Button onClick={() => take(undefined)}>Cancel</Button>
        </div>
      </Field>
    </div>
  );
}

const hasSelection = (input: HTMLInputElement | null) => input !== null && input.selectionStart !== input.selectionEnd;
