// A deployment behind a proxy that ends TLS, with gateway tokens as host names. Import it first: settings are read once.
Object.assign(process.env, {
  PUBLIC_API_URL: 'https://api.service.example',
  WRAP_BASE_HOST: 'wrap.service.example',
  TRUSTED_PROXIES: '127.0.0.1/32',
});
