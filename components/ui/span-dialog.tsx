'use client';

import { useState } from 'react';
import { Button } from './button.tsx';
import { DateTimeInput } from './date-time-input.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import type { Span } from './span-text.tsx';

type Props = { open: boolean; span: Span; onOpenChange: (open: boolean) => void; onSpan: (span: Span) => void };

/** Asks for a span of time of one's own. */
export function SpanDialog({ open, span, onOpenChange, onSpan }: Props) {
  const [asked, setAsked] = useState(span);
  const [opened, setOpened] = useState(open);
  // Each time it opens it begins with what holds now.
  if (open !== opened) {
    setOpened(open);
    if (open) setAsked(span);
  }
  const { from, to } = asked;
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Custom range"
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button
            variant="primary"
            disabledReason={
              from && to && from >= to ? 'The start must be before the end.' : from || to ? undefined : 'Choose a start or an end.'
            }
            onClick={() => {
              onSpan(asked);
              onOpenChange(false);
            }}
          >
            Show
          </Button>
        </>
      }
    >
      <Field label="From">
        <DateTimeInput value={from} onChange={(next) => setAsked({ from: next, to })} />
      </Field>
      <Field label="Until" optional hint="Leave empty for now.">
        <DateTimeInput value={to} onChange={(next) => setAsked({ from, to: next })} />
      </Field>
    </Dialog>
  );
}
