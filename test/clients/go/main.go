// Tries the hub with a client library of Go. Usage: trial LIBRARY URL, prints one JSON object.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgotypes "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	atOnce = 40
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// The parts of a result that the trial checks.
type outcome struct {
	text, mime, image string
	structured        any
	isError           bool
}

// A connected client of either library.
type client interface {
	revision() string
	list(context.Context) ([]string, error)
	call(ctx context.Context, name string, arguments map[string]any) (outcome, error)
}

// Empty arguments must be {}, not null.
var none = map[string]any{}

type report struct {
	Revision   string   `json:"revision"`
	Tools      []string `json:"tools"`
	Text       string   `json:"text"`
	Image      []string `json:"image"`
	Structured any      `json:"structured"`
	Error      []any    `json:"error"`
	AtOnce     []string `json:"at_once"`
	Asked      string   `json:"asked"`
}

func try(ctx context.Context, c client) report {
	tools := must(c.list(ctx))
	slices.Sort(tools)
	image := must(c.call(ctx, "picture", none))
	failed := must(c.call(ctx, "fail", none))
	texts := make([]string, atOnce)
	var waiting sync.WaitGroup
	for n := range atOnce {
		waiting.Go(func() {
			texts[n] = must(c.call(ctx, "echo", map[string]any{"message": fmt.Sprint(n)})).text
		})
	}
	waiting.Wait()
	return report{
		Revision:   c.revision(),
		Tools:      tools,
		Text:       must(c.call(ctx, "echo", map[string]any{"message": "hello"})).text,
		Image:      []string{image.mime, image.image},
		Structured: must(c.call(ctx, "sum", map[string]any{"a": 1, "b": 2})).structured,
		Error:      []any{failed.isError, failed.text},
		AtOnce:     texts,
		Asked:      must(c.call(ctx, "ask", none)).text,
	}
}

func answerTo(message string) map[string]any {
	return map[string]any{"name": "Go, asked: " + message}
}

// The official SDK.
type sdk struct{ session *mcp.ClientSession }

func connectSDK(ctx context.Context, url, version string) client {
	answer := func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: answerTo(request.Params.Message)}, nil
	}
	made := mcp.NewClient(
		&mcp.Implementation{Name: "go-sdk", Version: "1"},
		&mcp.ClientOptions{ElicitationHandler: answer},
	)
	options := &mcp.ClientSessionOptions{ProtocolVersion: version}
	return sdk{must(made.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, options))}
}

func (c sdk) revision() string { return c.session.InitializeResult().ProtocolVersion }

func (c sdk) list(ctx context.Context) ([]string, error) {
	listed, err := c.session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (c sdk) call(ctx context.Context, name string, arguments map[string]any) (outcome, error) {
	result, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return outcome{}, err
	}
	made := outcome{structured: result.StructuredContent, isError: result.IsError}
	switch content := result.Content[0].(type) {
	case *mcp.TextContent:
		made.text = content.Text
	case *mcp.ImageContent:
		// The library has decoded the data; encode it again.
		encoded := must(json.Marshal(content.Data))
		made.mime, made.image = content.MIMEType, string(encoded[1:len(encoded)-1])
	}
	return made, nil
}

// mark3labs/mcp-go.
type mark3labs struct {
	client  *mcpgo.Client
	version string
}

type asked struct{}

func (asked) Elicit(_ context.Context, request mcpgotypes.ElicitationRequest) (*mcpgotypes.ElicitationResult, error) {
	response := mcpgotypes.ElicitationResponse{
		Action:  mcpgotypes.ElicitationResponseActionAccept,
		Content: answerTo(request.Params.Message),
	}
	return &mcpgotypes.ElicitationResult{ElicitationResponse: response}, nil
}

func connectMark3labs(ctx context.Context, url, version string) client {
	made := mcpgo.NewClient(
		must(transport.NewStreamableHTTP(url)),
		mcpgo.WithElicitationHandler(asked{}),
		mcpgo.WithProtocolVersion(version),
	)
	check(made.Start(ctx))
	var request mcpgotypes.InitializeRequest
	request.Params.ProtocolVersion = version
	request.Params.ClientInfo = mcpgotypes.Implementation{Name: "mcp-go", Version: "1"}
	agreed := must(made.Initialize(ctx, request))
	return mark3labs{made, agreed.ProtocolVersion}
}

func (c mark3labs) revision() string { return c.version }

func (c mark3labs) list(ctx context.Context) ([]string, error) {
	listed, err := c.client.ListTools(ctx, mcpgotypes.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (c mark3labs) call(ctx context.Context, name string, arguments map[string]any) (outcome, error) {
	var request mcpgotypes.CallToolRequest
	request.Params.Name = name
	request.Params.Arguments = arguments
	result, err := c.client.CallTool(ctx, request)
	if err != nil {
		return outcome{}, err
	}
	made := outcome{structured: result.StructuredContent, isError: result.IsError}
	switch content := result.Content[0].(type) {
	case mcpgotypes.TextContent:
		made.text = content.Text
	case mcpgotypes.ImageContent:
		made.mime, made.image = content.MIMEType, content.Data
	}
	return made, nil
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	library, url := os.Args[1], os.Args[2]
	connect := map[string]func() client{
		"sdk legacy":    func() client { return connectSDK(ctx, url, legacy) },
		"sdk modern":    func() client { return connectSDK(ctx, url, modern) },
		"mcp-go legacy": func() client { return connectMark3labs(ctx, url, legacy) },
		"mcp-go modern": func() client { return connectMark3labs(ctx, url, modern) },
	}[library]
	check(json.NewEncoder(os.Stdout).Encode(try(ctx, connect())))
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
