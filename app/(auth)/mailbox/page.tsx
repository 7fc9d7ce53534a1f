import type { Metadata } from 'next';
import { Mailbox } from '#components/auth/mailbox.tsx';

export const metadata: Metadata = { title: 'Local mailbox' };

export default function MailboxPage() {
  return <Mailbox />;
}
