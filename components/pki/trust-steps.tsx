'use client';

import { CodeBlock } from '#components/ui/code-block.tsx';

/** How machines learn to trust a root, for each system. Without a public address the file that was downloaded is used. */
export function TrustSteps({ name, url }: { name: string; url: string | null }) {
  const der = url ? `curl -fsSo ${name}.crt ${url}/root.crt` : undefined;
  const pem = der
    ? `${der}\nopenssl x509 -inform der -in ${name}.crt -out ${name}.pem`
    : `# ${name}.pem: the certificate in PEM, downloaded above`;
  return (
    <CodeBlock
      snippets={[
        {
          id: 'debian',
          label: 'Debian, Ubuntu',
          language: 'bash',
          code: `${pem}\nsudo cp ${name}.pem /usr/local/share/ca-certificates/${name}.crt\nsudo update-ca-certificates`,
        },
        {
          id: 'rhel',
          label: 'RHEL, Fedora',
          language: 'bash',
          code: `${pem}\nsudo cp ${name}.pem /etc/pki/ca-trust/source/anchors/\nsudo update-ca-trust`,
        },
        {
          id: 'alpine',
          label: 'Alpine, containers',
          language: 'bash',
          code: `# In the Dockerfile, with the certificate in PEM\nCOPY ${name}.pem /usr/local/share/ca-certificates/${name}.crt\nRUN apk add --no-cache ca-certificates && update-ca-certificates`,
        },
        {
          id: 'macos',
          label: 'macOS',
          language: 'bash',
          code: `${pem}\nsudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain ${name}.pem`,
        },
        {
          id: 'windows',
          label: 'Windows',
          language: 'bash',
          code: `# In PowerShell as an administrator, with the certificate in DER\nImport-Certificate -FilePath ${name}.crt -CertStoreLocation Cert:\\LocalMachine\\Root`,
        },
        {
          id: 'node',
          label: 'Node.js',
          language: 'bash',
          code: `${pem}\nNODE_EXTRA_CA_CERTS=$PWD/${name}.pem node server.js`,
        },
        {
          id: 'java',
          label: 'Java',
          language: 'bash',
          code: `${pem}\nkeytool -importcert -cacerts -alias ${name} -file ${name}.pem`,
        },
      ]}
    />
  );
}
