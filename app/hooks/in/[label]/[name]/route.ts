import { handleInboundWebhook } from '#server/api/inbound-webhooks.ts';

export const dynamic = 'force-dynamic';

async function mount(req: Request, { params }: { params: Promise<{ label: string; name: string }> }): Promise<Response> {
  return handleInboundWebhook(req, await params);
}

export { mount as DELETE, mount as GET, mount as HEAD, mount as OPTIONS, mount as PATCH, mount as POST, mount as PUT };
