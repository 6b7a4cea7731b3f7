package main

func Example() {
	main()
	// Output:
	// thinking "Bern, th"
	// thinking "en."
	// content "It is "
	// content "sunny."
	// {"role":"assistant","content":"It is sunny.","reasoning":"Bern, then."}
}
