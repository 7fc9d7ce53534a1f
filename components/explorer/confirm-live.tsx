'use client';

import { Button } from '#components/ui/button.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import type { ApiOperation } from './document.ts';

type Props = { open: boolean; op: ApiOperation; path: string; onAnswer: (yes: boolean) => void };

/** Asks before a call changes Live. The path has its ids filled in. */
export function ConfirmLive({ open, op, path, onAnswer }: Props) {
  return (
    <Dialog
      open={open}
      onOpenChange={() => onAnswer(false)}
      title={`${op.summary} in Live?`}
      description={`${op.method} /v1${path} affects live traffic immediately and is audited under your name.`}
      footer={
        <>
          <Button onClick={() => onAnswer(false)}>Cancel</Button>
          <Button variant="primary" onClick={() => onAnswer(true)}>
            Send in Live
          </Button>
        </>
      }
    />
  );
}
