'use client';

import { Dialog } from '#components/ui/dialog.tsx';
import { TestCall } from './test-call.tsx';

type Props = { open: boolean; onClose: () => void; agentId: string };

/** One call through an agent, made when the dialog opens. */
export function TestCallDialog({ open, onClose, agentId }: Props) {
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => next || onClose()}
      title="Test call"
      description="Sends one word through the agent as a caller would, and charges the agent."
    >
      {open && <TestCall agentId={agentId} onClose={onClose} />}
    </Dialog>
  );
}
