import type { Seed } from '#server/kernel/seed.ts';

export const seed: Seed = {
  run: async (make) => {
    await make('pki.create_root', {
      name: 'corp',
      subject: { CN: 'Acme Internal CA', O: 'Acme', C: 'US' },
      intermediate_ttl_seconds: 15_552_000,
    });
    await make('pki.create_role', {
      name: 'corp',
      role_name: 'internal-services',
      allowed_domains: ['internal.example.com'],
      allow_wildcards: true,
    });
    await make('pki.create_role', {
      name: 'corp',
      role_name: 'devices',
      allowed_domains: ['iot-device-*'],
      allow_subdomains: false,
      allow_ip_sans: false,
    });
    for (const host of ['api', 'orders', 'billing'])
      await make('pki.issue', { name: 'corp', role: 'internal-services', subject: { CN: `${host}.internal.example.com` } });
    const retired = await make('pki.issue', { name: 'corp', role: 'devices', subject: { CN: 'iot-device-7af2' } });
    await make('pki.revoke', { name: 'corp', serial_hex: retired.serial_hex, reason: 'superseded' });
  },
};
