// Build it with `go build -o <file> .` in this folder and name the file in OTLP_JUDGE_BIN: server/domain/log-streams/otlp.test.ts asks it.
// Answers what a batch of OTLP/HTTP in JSON holds, as the collector's own library reads it: POST /v1/logs and /v1/traces.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

type answer struct {
	Items []map[string]any `json:"items"`
	Error string           `json:"error,omitempty"`
}

func main() {
	reply := func(w http.ResponseWriter, items []map[string]any, err error) {
		a := answer{Items: items}
		if err != nil {
			a.Error = err.Error()
			w.WriteHeader(http.StatusBadRequest)
		}
		_ = json.NewEncoder(w).Encode(a)
	}
	http.HandleFunc("/v1/logs", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		req := plogotlp.NewExportRequest()
		err := req.UnmarshalJSON(body)
		items := []map[string]any{}
		if err == nil {
			for i := 0; i < req.Logs().ResourceLogs().Len(); i++ {
				rl := req.Logs().ResourceLogs().At(i)
				for j := 0; j < rl.ScopeLogs().Len(); j++ {
					for k := 0; k < rl.ScopeLogs().At(j).LogRecords().Len(); k++ {
						one := rl.ScopeLogs().At(j).LogRecords().At(k)
						items = append(items, map[string]any{"event": one.EventName(), "severity": one.SeverityNumber().String(), "time": one.Timestamp().AsTime(),
							"attributes": one.Attributes().AsRaw(), "resource": rl.Resource().Attributes().AsRaw(), "body": one.Body().AsString()})
					}
				}
			}
		}
		reply(w, items, err)
	})
	http.HandleFunc("/v1/traces", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		req := ptraceotlp.NewExportRequest()
		err := req.UnmarshalJSON(body)
		items := []map[string]any{}
		if err == nil {
			for i := 0; i < req.Traces().ResourceSpans().Len(); i++ {
				rs := req.Traces().ResourceSpans().At(i)
				for j := 0; j < rs.ScopeSpans().Len(); j++ {
					for k := 0; k < rs.ScopeSpans().At(j).Spans().Len(); k++ {
						one := rs.ScopeSpans().At(j).Spans().At(k)
						items = append(items, map[string]any{"trace": one.TraceID().String(), "span": one.SpanID().String(), "name": one.Name(), "kind": one.Kind().String(),
							"status": one.Status().Code().String(), "start": one.StartTimestamp().AsTime(), "end": one.EndTimestamp().AsTime(), "attributes": one.Attributes().AsRaw()})
					}
				}
			}
		}
		reply(w, items, err)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stdout, listener.Addr().String())
	_ = http.Serve(listener, nil)
}
