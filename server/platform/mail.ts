import type { Transporter } from 'nodemailer';
import { processState } from '#server/kernel/process-state.ts';
import { env, logLevel } from './env.ts';
import { log } from './log.ts';

export type Mail = { recipient: string; kind: string; subject: string; text: string; html: string | null; reply_to?: string | null };

const held = processState('mail', (): { transport?: Transporter | undefined } => ({}));

/** Whether mails leave this machine. Without SMTP_URL they stay in the database and the log. */
export const mailLeaves = (): boolean => env.SMTP_URL !== undefined;

/** Hands one mail to the SMTP server, or, without one, shows it in the log. @throws what the server or the network answered, within 40 s */
export async function deliver(mail: Mail): Promise<void> {
  if (!env.SMTP_URL) return show(mail);
  const { createTransport } = await import('nodemailer'); // here and not above: most processes send no mail
  held.transport ??= createTransport({
    url: env.SMTP_URL,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  await held.transport.sendMail({
    from: env.MAIL_FROM,
    to: mail.recipient,
    subject: mail.subject,
    text: mail.text,
    ...(mail.html ? { html: mail.html } : {}),
    ...(mail.reply_to ? { replyTo: mail.reply_to } : {}),
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
}

export function closeMail(): void {
  held.transport?.close();
  held.transport = undefined;
}

/**
 * A local installation has no other way to see its links and codes, so there the line goes past the logger, which would mask them.
 * In production the log names the kind of mail and never what it says: the subject of one holds its code.
 */
function show(mail: Mail): void {
  if (env.NODE_ENV === 'test') return;
  if (env.NODE_ENV === 'production') log.info({ to: mail.recipient, kind: mail.kind }, 'email not sent: SMTP_URL is not set');
  // Where the log is silent, as in the operator's commands, standard output belongs to the answer.
  else
    (logLevel() === 'silent' ? process.stderr : process.stdout).write(
      `${JSON.stringify({ level: 'info', time: new Date().toISOString(), pid: process.pid, to: mail.recipient, subject: mail.subject, text: mail.text, msg: 'email (SMTP_URL is not set)' })}\n`,
    );
}
